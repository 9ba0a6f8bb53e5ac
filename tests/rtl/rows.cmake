# The rows unit and the memories around it.
set(RTL_ROWS_SOURCES word_fifo.sv peak_tree.sv sum_of_squares.sv norm_root.sv rows_walk.sv
    rows_stream.sv rows_measure.sv rows_quantize.sv rows_factors.sv rows_embed.sv
    rows_multipliers.sv rows_embedding.sv rows_scale.sv rows_write.sv
    rows_unit.sv)

logos_verilate(rows_bench_model TOP rows_bench
  SOURCES engine_pkg.sv sync_fifo.sv ${RTL_FLOAT_SOURCES} ${RTL_ROWS_SOURCES} gain_memory.sv
          rotary_memory.sv ${CMAKE_CURRENT_SOURCE_DIR}/rows_bench.sv)
logos_test(rtl_rows_test SOURCES rows_test.cc rows_norm_test.cc
           LINK rows_bench_model d5005_lowering reference NEEDS_SHARED)
rtl_yosys_check(rows_unit engine_pkg.sv sync_fifo.sv ${RTL_FLOAT_SOURCES} ${RTL_ROWS_SOURCES})
rtl_yosys_check(gain_memory engine_pkg.sv gain_memory.sv)
rtl_yosys_check(rotary_memory engine_pkg.sv rotary_memory.sv)
rtl_yosys_check(query_memory engine_pkg.sv query_memory.sv)
