# The engine's shell: what brings the stream, the instructions and the host's words to the units.
logos_test(rtl_axi_checker_test SOURCES axi_checker_test.cc port_checks_test.cc LINK axi_checker)

logos_verilate(async_fifo_model TOP async_fifo SOURCES synchronizer.sv async_fifo.sv
               PARAMETERS Bits=40 Depth=16)
logos_test(rtl_async_fifo_test SOURCES async_fifo_test.cc LINK async_fifo_model)
logos_verilate(clock_gate_model TOP clock_gate SOURCES clock_gate.sv)
logos_test(rtl_clock_gate_test SOURCES clock_gate_test.cc LINK clock_gate_model)
rtl_yosys_check(clock_gate clock_gate.sv)
rtl_yosys_check(async_fifo synchronizer.sv async_fifo.sv)

logos_verilate(pulse_crossing_model TOP pulse_crossing SOURCES synchronizer.sv pulse_crossing.sv)
logos_verilate(clock_counter_model TOP clock_counter SOURCES synchronizer.sv clock_counter.sv)
logos_test(rtl_crossings_test SOURCES crossings_test.cc LINK pulse_crossing_model clock_counter_model)
rtl_yosys_check(pulse_crossing synchronizer.sv pulse_crossing.sv)
rtl_yosys_check(clock_counter synchronizer.sv clock_counter.sv)

set(crossing_sources synchronizer.sv async_fifo.sv gray_counter.sv)
logos_verilate(bank_port_model TOP bank_port SOURCES ${crossing_sources} bank_port.sv
               PARAMETERS FifoBeats=128)
logos_test(rtl_bank_port_test SOURCES bank_port_test.cc LINK bank_port_model axi_checker fmt::fmt)
rtl_yosys_check(bank_port ${crossing_sources} bank_port.sv)

logos_verilate(stream_fetch_model TOP stream_fetch
               SOURCES engine_pkg.sv burst_splitter.sv stream_fetch.sv)
logos_test(rtl_stream_fetch_test SOURCES stream_fetch_test.cc
           LINK stream_fetch_model d5005_lowering)
rtl_yosys_check(stream_fetch engine_pkg.sv burst_splitter.sv stream_fetch.sv)

logos_verilate(stream_router_model TOP stream_router SOURCES sync_fifo.sv stream_router.sv)
logos_test(rtl_stream_router_test SOURCES stream_router_test.cc LINK stream_router_model)
rtl_yosys_check(stream_router sync_fifo.sv stream_router.sv)

logos_verilate(dispatcher_model TOP dispatcher SOURCES engine_pkg.sv unit_queue.sv dispatcher.sv)
logos_test(rtl_dispatcher_test SOURCES dispatcher_test.cc LINK dispatcher_model d5005_lowering)
rtl_yosys_check(dispatcher engine_pkg.sv unit_queue.sv dispatcher.sv)

set(store_sources engine_pkg.sv sync_fifo.sv store_greedy.sv store_unit.sv)
logos_verilate(store_unit_model TOP store_unit SOURCES ${store_sources})
logos_test(rtl_store_unit_test SOURCES store_unit_test.cc LINK store_unit_model d5005_lowering)
rtl_yosys_check(store_unit ${store_sources})

logos_verilate(cache_writer_model TOP cache_writer SOURCES cache_writer.sv)
logos_test(rtl_cache_writer_test SOURCES cache_writer_test.cc LINK cache_writer_model)
rtl_yosys_check(cache_writer cache_writer.sv)

logos_verilate(csr_model TOP csr SOURCES engine_pkg.sv csr_pkg.sv csr.sv)
logos_test(rtl_csr_test SOURCES csr_test.cc LINK csr_model)
rtl_yosys_check(csr engine_pkg.sv csr_pkg.sv csr.sv)

# The whole engine but for its units, in whose place stands what the test says.
set(shell_sources
    engine_pkg.sv csr_pkg.sv synchronizer.sv pulse_crossing.sv reset_domain.sv reset_control.sv
    async_fifo.sv sync_fifo.sv gray_counter.sv clock_counter.sv bank_port.sv burst_splitter.sv
    stream_fetch.sv stream_router.sv unit_queue.sv dispatcher.sv program_memory.sv
    program_loader.sv row_table.sv greedy_table.sv cache_writer.sv host_port.sv dma.sv csr.sv
    run_control.sv engine_registers.sv clock_gate.sv)
logos_verilate(engine_shell_model TOP engine
               SOURCES ${shell_sources} ${CMAKE_CURRENT_SOURCE_DIR}/engine_units_of_test.sv engine.sv)
logos_test(rtl_shell_test SOURCES shell_test.cc
           LINK engine_shell_model axi_checker d5005_lowering fmt::fmt)
