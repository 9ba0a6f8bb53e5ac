# The binary32 units. Who verilates a module that holds them takes the sources from here.
set(RTL_FLOAT_SOURCES
    float_pkg.sv f32_add.sv f32_mul.sv f32_div.sv f32_sqrt.sv int_to_f32.sv round_scaled.sv
    f32_scale.sv side_queue.sv exp_neg.sv silu.sv)

foreach(unit f32_add f32_mul f32_div f32_sqrt int_to_f32)
  logos_verilate(${unit}_model TOP ${unit} SOURCES float_pkg.sv ${unit}.sv PARAMETERS TagBits=8)
  rtl_yosys_check(${unit} float_pkg.sv ${unit}.sv)
endforeach()
logos_verilate(round_scaled_model TOP round_scaled SOURCES round_scaled.sv PARAMETERS TagBits=8)
rtl_yosys_check(round_scaled round_scaled.sv)
logos_verilate(f32_scale_model TOP f32_scale SOURCES f32_scale.sv)
rtl_yosys_check(f32_scale f32_scale.sv)

set(curve_sources float_pkg.sv f32_add.sv f32_mul.sv f32_div.sv side_queue.sv exp_neg.sv silu.sv)
foreach(unit exp_neg silu)
  logos_verilate(${unit}_model TOP ${unit} SOURCES ${curve_sources} PARAMETERS TagBits=8)
  rtl_yosys_check(${unit} ${curve_sources})
endforeach()

logos_test(rtl_float_test SOURCES float_test.cc
           LINK f32_add_model f32_mul_model f32_div_model f32_sqrt_model fmt::fmt)
logos_test(rtl_float_integer_test SOURCES float_integer_test.cc
           LINK int_to_f32_model round_scaled_model f32_scale_model program fmt::fmt)
logos_test(rtl_float_curve_test SOURCES float_curve_test.cc
           LINK exp_neg_model silu_model program fmt::fmt)
logos_test(rtl_float_golden_test SOURCES float_golden_test.cc
           LINK int_to_f32_model exp_neg_model silu_model fmt::fmt NEEDS_SHARED)
logos_test(rtl_float_slow_test SOURCES float_slow_test.cc
           LINK f32_add_model f32_mul_model f32_div_model f32_sqrt_model int_to_f32_model
                round_scaled_model exp_neg_model silu_model program fmt::fmt SLOW)
