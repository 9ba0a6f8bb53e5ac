# cmake -DNVCC=… -DFLAGS=a|b|c -DSOURCE=… -DOUTPUT=… -DREPORT=… -P run_nvcc.cmake
# Runs nvcc and keeps what it and ptxas say in REPORT; shows it where they fail.
string(REPLACE "|" ";" flags "${FLAGS}")
execute_process(
  COMMAND ${NVCC} ${flags} -o ${OUTPUT} ${SOURCE}
  RESULT_VARIABLE code
  OUTPUT_VARIABLE text
  ERROR_VARIABLE text)
file(WRITE ${REPORT} "${text}")
if(NOT code EQUAL 0)
  file(REMOVE ${OUTPUT})
  message(FATAL_ERROR "${NVCC} failed on ${SOURCE} (exit ${code}):\n${text}")
endif()
