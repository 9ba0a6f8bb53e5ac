# The whole design, as yosys reads it: the sizes that `--engine-rows` can ask for differ in their
# configuration alone, so the default stands for all.
file(GLOB engine_modules CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/rtl/design
     ${CMAKE_SOURCE_DIR}/rtl/design/*.sv)
set(engine_packages engine_pkg.sv csr_pkg.sv float_pkg.sv attend_pkg.sv)
list(REMOVE_ITEM engine_modules ${engine_packages})
rtl_yosys_check(engine ${engine_packages} ${engine_modules})
set_tests_properties(rtl_yosys_engine PROPERTIES LABELS "rtl;slow" TIMEOUT 3600)

logos_test(rtl_engine_log_test SOURCES engine_log_test.cc LINK d5005_board)
logos_test(rtl_engine_observed_test
  SOURCES engine_observed_test.cc ../contract/contract.cc
  LINK small_models d5005_board bench_core)
logos_test(rtl_engine_test
  SOURCES engine_test.cc ../contract/contract.cc
  LINK small_models d5005_board bench_core)
logos_test(rtl_engine_boards_test
  SOURCES engine_boards_test.cc ../contract/contract.cc
  LINK small_models d5005_board bench_core)
# How fast the engine is, and its simulation: a program, no test.
add_executable(rtl_engine_speed engine_speed.cc)
target_link_libraries(rtl_engine_speed PRIVATE logos_options d5005_board bench_core)
target_compile_definitions(rtl_engine_speed PRIVATE LOGOS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
