# Finds Verilator and turns SystemVerilog into libraries. Sets
#   LOGOS_RTL          TRUE where Verilator works
#   LOGOS_RTL_REASON   one line: which one, or why none
set(LOGOS_WITH_RTL AUTO CACHE STRING "Build the D5005 engine: AUTO (where Verilator is), ON, OFF")
option(LOGOS_RTL_UNITS "Test the engine's units one by one (many models: minutes to build)" OFF)
option(LOGOS_RTL_COVERAGE "Count which lines of the engine the tests reach (scripts/coverage)" OFF)
set(LOGOS_RTL_DESIGN ${CMAKE_SOURCE_DIR}/rtl/design CACHE PATH "Where the modules lie")
set(LOGOS_RTL_OPTIMIZE -O3 CACHE STRING "How g++ optimises the models")
set(LOGOS_VERILATOR_ARGUMENTS "" CACHE STRING "More of Verilator's arguments, for every model")
set_property(CACHE LOGOS_WITH_RTL PROPERTY STRINGS AUTO ON OFF)
if(NOT LOGOS_WITH_RTL MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "LOGOS_WITH_RTL: got ${LOGOS_WITH_RTL}, want AUTO, ON or OFF")
endif()

set(LOGOS_RTL FALSE)
set(LOGOS_RTL_REASON "LOGOS_WITH_RTL is OFF")
if(NOT LOGOS_WITH_RTL STREQUAL OFF)
  find_program(LOGOS_VERILATOR verilator)
  set(LOGOS_RTL_REASON "no verilator on PATH")
  if(LOGOS_VERILATOR)
    execute_process(COMMAND ${LOGOS_VERILATOR} --version OUTPUT_VARIABLE version
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${LOGOS_VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE root
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(LOGOS_RTL_REASON "${LOGOS_VERILATOR}: want 5.006 or newer, got ${version}")
    if(version MATCHES "^Verilator ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 5.006)
      set(LOGOS_RTL TRUE)
      set(LOGOS_RTL_REASON "${LOGOS_VERILATOR} (${CMAKE_MATCH_1})")
    endif()
  endif()
  if(LOGOS_WITH_RTL STREQUAL ON AND NOT LOGOS_RTL)
    message(FATAL_ERROR "LOGOS_WITH_RTL is ON: ${LOGOS_RTL_REASON}")
  endif()
endif()

if(LOGOS_RTL)
  # Wide vectors want AVX2 (3 to 4 times as fast as without); the model runs where it is built.
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_FLAGS -march=x86-64-v3)
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") ? 0 : 1; }"
                        LOGOS_BUILDS_FOR_AVX2)
  unset(CMAKE_REQUIRED_FLAGS)
  set(LOGOS_RTL_CXX_FLAGS ${LOGOS_RTL_OPTIMIZE} -Wno-unused -ffp-contract=off)
  if(LOGOS_BUILDS_FOR_AVX2)
    list(APPEND LOGOS_RTL_CXX_FLAGS -march=x86-64-v3)
  endif()

  # Verilator's run time, once for all models.
  add_library(verilated STATIC ${root}/include/verilated.cpp ${root}/include/verilated_threads.cpp
                               ${root}/include/verilated_cov.cpp ${root}/include/verilated_fst_c.cpp)
  target_include_directories(verilated SYSTEM PUBLIC ${root}/include ${root}/include/vltstd)
  target_compile_definitions(verilated PUBLIC VM_COVERAGE=$<BOOL:${LOGOS_RTL_COVERAGE}> VM_SC=0 VM_TRACE=0 VM_TRACE_FST=0
                                              VM_TRACE_VCD=0)
  target_compile_options(verilated PRIVATE -O2 -w)
  find_package(ZLIB REQUIRED)
  target_link_libraries(verilated PUBLIC Threads::Threads PRIVATE ZLIB::ZLIB)
  if(LOGOS_RTL_COVERAGE)
    target_sources(verilated PRIVATE ${CMAKE_SOURCE_DIR}/tests/rtl/coverage_writer.cc)
    target_link_options(verilated INTERFACE -Wl,--wrap=_ZN13VerilatedSymsD2Ev)
    list(APPEND LOGOS_VERILATOR_ARGUMENTS --coverage-line)
  endif()
endif()

# logos_verilate(name TOP module SOURCES files… [PARAMETERS ROWS=8…] [ARGUMENTS …]): a library with
# the class V<name> (header V<name>.h). Sources are relative to rtl/design and in order: packages
# first.
function(logos_verilate name)
  cmake_parse_arguments(ARG "" "TOP" "SOURCES;PARAMETERS;ARGUMENTS" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.verilated)
  set(archive ${folder}/V${name}__ALL.a)
  set(sources)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${LOGOS_RTL_DESIGN})
    list(APPEND sources ${source})
  endforeach()
  list(TRANSFORM ARG_PARAMETERS PREPEND -G)
  list(JOIN LOGOS_RTL_CXX_FLAGS " " flags)
  set(arguments --cc --build -j 1 --Mdir ${folder} --prefix V${name} --top-module ${ARG_TOP}
      -O3 --x-assign fast --x-initial fast -Wall -CFLAGS "${flags}"
      -MAKEFLAGS "OPT_FAST= OPT_SLOW=-O0 OPT_GLOBAL=" ${ARG_PARAMETERS} ${ARG_ARGUMENTS}
      ${LOGOS_VERILATOR_ARGUMENTS}
      ${CMAKE_SOURCE_DIR}/rtl/lint/waivers.vlt ${sources})
  file(GENERATE OUTPUT ${folder}.arguments.cmake
       CONTENT "set(arguments [==[${arguments}]==])\n")
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -DVERILATOR=${LOGOS_VERILATOR} -DCCACHE=${CCACHE}
            -DARGUMENTS=${folder}.arguments.cmake -P ${CMAKE_SOURCE_DIR}/cmake/run_verilator.cmake
    DEPENDS ${sources} ${folder}.arguments.cmake ${CMAKE_SOURCE_DIR}/rtl/lint/waivers.vlt
    COMMENT "Verilating ${name}"
    VERBATIM)
  add_custom_target(${name}_archive DEPENDS ${archive})
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${archive})
  add_dependencies(${name} ${name}_archive)
  file(MAKE_DIRECTORY ${folder})
  target_include_directories(${name} SYSTEM INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE verilated)
endfunction()
