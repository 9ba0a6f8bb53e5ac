# The driver over both transports; OPAE's calls against a stand-in.
add_subdirectory(opae_stand_in)
logos_test(rtl_opae_test SOURCES opae_test.cc LINK d5005_board)
target_compile_definitions(rtl_opae_test PRIVATE
  OPAE_STAND_IN="$<TARGET_FILE:opae_stand_in>")
# The stand-in finds the board in the program that loads it.
set_target_properties(rtl_opae_test PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(rtl_opae_test opae_stand_in)
