# cmake -DVERILATOR=… -DCCACHE=… -DARGUMENTS=FILE -P run_verilator.cmake
# Runs Verilator and its makefile; says something only where they fail.
include(${ARGUMENTS})
set(ENV{OBJCACHE} "${CCACHE}")
set(ENV{MAKEFLAGS} "")
execute_process(COMMAND ${VERILATOR} ${arguments} RESULT_VARIABLE status OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message("${output}")
  message(FATAL_ERROR "verilator ended with ${status}")
endif()
