# The product unit and the memories around it.
set(RTL_PRODUCT_SOURCES clock_gate.sv mac_row.sv mac_array.sv product_walk.sv product_lane.sv product_decode.sv
    product_sums.sv product_drain.sv product_post.sv product_unit.sv)

# ROWS x MAC_ROWS. 4x2 takes the multipliers as synthesis does. -O1: quicker to build, and in these
# tests the models run for a few seconds only.
foreach(size 1x1 4x2 8x8 16x16 32x16)
  string(REPLACE x ";" rows ${size})
  list(GET rows 1 mac_rows)
  list(GET rows 0 rows)
  set(arguments)
  if(size STREQUAL 4x2)
    set(arguments -DSYNTHESIS -CFLAGS -O1)
  elseif(size STREQUAL 32x16)
    set(arguments -CFLAGS -O1)
  endif()
  logos_verilate(product_${size}_model TOP product_bench
    SOURCES engine_pkg.sv sync_fifo.sv ${RTL_FLOAT_SOURCES} activation_memory.sv
            ${RTL_PRODUCT_SOURCES} ${CMAKE_CURRENT_SOURCE_DIR}/product_bench.sv
    PARAMETERS Rows=${rows} MacRows=${mac_rows} ARGUMENTS ${arguments})
endforeach()
set(product_models product_1x1_model product_4x2_model product_8x8_model product_16x16_model
    product_32x16_model)
logos_test(rtl_product_test SOURCES product_test.cc product_case.cc
           LINK ${product_models} d5005_lowering reference)
logos_test(rtl_product_slow_test SOURCES product_slow_test.cc product_case.cc
           LINK ${product_models} d5005_lowering reference SLOW)
add_executable(rtl_product_speed product_speed.cc product_case.cc)
target_link_libraries(rtl_product_speed PRIVATE logos_options ${product_models} d5005_lowering
                                                reference GTest::gtest)

logos_verilate(vector_memory_bench_model TOP vector_memory_bench
  SOURCES engine_pkg.sv vector_memory.sv vector_ports.sv
          ${CMAKE_CURRENT_SOURCE_DIR}/vector_memory_bench.sv)
logos_test(rtl_vector_memory_test SOURCES vector_memory_test.cc LINK vector_memory_bench_model)

rtl_yosys_check(product_unit engine_pkg.sv sync_fifo.sv ${RTL_FLOAT_SOURCES} ${RTL_PRODUCT_SOURCES})
rtl_yosys_check(activation_memory engine_pkg.sv activation_memory.sv)
rtl_yosys_check(vector_memory engine_pkg.sv vector_memory.sv)
rtl_yosys_check(vector_ports engine_pkg.sv vector_ports.sv)
