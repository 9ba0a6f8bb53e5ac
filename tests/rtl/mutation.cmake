# Plants faults in the design; scripts/mutate asks the tests about them.
logos_library(rtl_mutation SOURCES mutation/mutants.cc mutation/tokens.cc LINK fmt::fmt)
add_executable(rtl_mutants mutation/main.cc)
target_link_libraries(rtl_mutants PRIVATE rtl_mutation CLI11::CLI11)
logos_test(rtl_mutants_test SOURCES mutation/mutants_test.cc LINK rtl_mutation)
