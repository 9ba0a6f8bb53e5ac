# The waveform's own build of the bench.
logos_test(rtl_wave_test SOURCES wave_test.cc LINK sim)
target_compile_definitions(rtl_wave_test PRIVATE LOGOS_BENCH="$<TARGET_FILE:bench>")
add_dependencies(rtl_wave_test bench bench_wave)
