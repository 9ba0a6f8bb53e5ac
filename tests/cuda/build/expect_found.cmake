# cmake -DSCRIPT=… -DFILE=… -DTEXT=… -P expect_found.cmake
# Passes where the check fails on the file and names what was planted in it.
execute_process(
  COMMAND ${CMAKE_COMMAND} -DFILES=${FILE} -P ${SCRIPT}
  RESULT_VARIABLE code
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
# CMake wraps its messages by the length of the paths in them.
string(REGEX REPLACE "[ \r\n]+" " " output "${output}")
string(FIND "${output}" "${TEXT}" at)
if(code EQUAL 0 OR at EQUAL -1)
  message(FATAL_ERROR "not found: ${TEXT}; the check ended with ${code}:\n${output}")
endif()
