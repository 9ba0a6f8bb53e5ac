# The engine's shell: what brings the stream, the instructions and the host's words to the units.
set(crossing synchronizer.sv async_fifo.sv gray_counter.sv)

logos_test(rtl_axi_checker_test SOURCES axi_checker_test.cc LINK fmt::fmt)

logos_verilate(async_fifo_model TOP async_fifo SOURCES synchronizer.sv async_fifo.sv
               PARAMETERS Bits=40 Depth=16)
logos_test(rtl_async_fifo_test SOURCES async_fifo_test.cc LINK async_fifo_model)
rtl_yosys_check(async_fifo synchronizer.sv async_fifo.sv)
