logos_verilate(sync_fifo_model TOP sync_fifo SOURCES sync_fifo.sv PARAMETERS Bits=40 Depth=8)
logos_test(rtl_fifo_test SOURCES sync_fifo_test.cc LINK sync_fifo_model)
rtl_yosys_check(sync_fifo sync_fifo.sv)
