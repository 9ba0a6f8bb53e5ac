# The attend unit.
set(RTL_ATTEND_SOURCES attend_pkg.sv attend_walker.sv attend_queries.sv attend_stream.sv
    attend_exponents.sv attend_dots.sv attend_scores.sv attend_buffer.sv attend_weight_lane.sv
    attend_weights.sv attend_values.sv attend_inverse.sv attend_outputs.sv attend_unit.sv)
set(attend_sources engine_pkg.sv ${RTL_FLOAT_SOURCES} word_fifo.sv ${RTL_ATTEND_SOURCES})

logos_verilate(attend_unit_model TOP attend_unit SOURCES ${attend_sources})
logos_test(rtl_attend_test SOURCES attend_unit_test.cc attend_check.cc attend_case.cc
           LINK attend_unit_model d5005_lowering reference)
logos_test(rtl_attend_slow_test SOURCES attend_slow_test.cc attend_check.cc attend_case.cc
           LINK attend_unit_model d5005_lowering reference SLOW)
rtl_yosys_check(attend_unit ${attend_sources})
