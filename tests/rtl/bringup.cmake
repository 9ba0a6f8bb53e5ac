# The bring-up ladder, its known answers, reports, faults; and the program itself.
logos_test(rtl_bringup_test SOURCES bringup_test.cc fault_test.cc LINK bringup_core)
logos_test(rtl_ladder_test SOURCES ladder_test.cc LINK bringup_core)
logos_test(rtl_ladder_faults_test SOURCES ladder_faults_test.cc LINK bringup_core SLOW)
logos_test(rtl_ladder_slow_test SOURCES ladder_slow_test.cc LINK bringup_core SLOW)
target_compile_definitions(rtl_ladder_test PRIVATE OPAE_STAND_IN="$<TARGET_FILE:opae_stand_in>")
set_target_properties(rtl_ladder_test PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(rtl_ladder_test opae_stand_in)
add_test(NAME rtl_bringup_program
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bringup_test.sh $<TARGET_FILE:bringup>
          $<TARGET_FILE:opae_stand_in>)
set_tests_properties(rtl_bringup_program PROPERTIES LABELS rtl TIMEOUT 600)
