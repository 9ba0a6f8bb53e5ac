# The heads unit; rows.cmake has what it shares with the rows unit.
set(RTL_HEADS_SOURCES quad_memory.sv heads_fetch.sv heads_norm.sv heads_rotate.sv heads_quantize.sv
    heads_push.sv heads_unit.sv)
set(heads_sources engine_pkg.sv sync_fifo.sv ${RTL_FLOAT_SOURCES} word_fifo.sv peak_tree.sv
    sum_of_squares.sv norm_root.sv rows_quantize.sv ${RTL_HEADS_SOURCES})

logos_verilate(heads_bench_model TOP heads_bench
  SOURCES ${heads_sources} gain_memory.sv rotary_memory.sv query_memory.sv
          ${CMAKE_CURRENT_SOURCE_DIR}/heads_bench.sv)
logos_test(rtl_heads_test SOURCES heads_test.cc
           LINK heads_bench_model d5005_lowering reference)
logos_test(rtl_units_slow_test SOURCES units_slow_test.cc
           LINK rows_bench_model heads_bench_model d5005_lowering reference SLOW)
rtl_yosys_check(heads_unit ${heads_sources})
