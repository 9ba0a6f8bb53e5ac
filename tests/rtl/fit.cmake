# scripts/fit: what it prints of a unit, what it refuses; slow: that README.md's table still holds.
foreach(part units table)
  add_test(NAME rtl_fit_${part}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fit_test.sh ${CMAKE_SOURCE_DIR} ${part})
  set_tests_properties(rtl_fit_${part} PROPERTIES LABELS rtl TIMEOUT 300)
  if(NOT LOGOS_YOSYS)
    set_tests_properties(rtl_fit_${part} PROPERTIES DISABLED TRUE)
  endif()
endforeach()
set_tests_properties(rtl_fit_table PROPERTIES LABELS "rtl;slow" TIMEOUT 3600)
