# What every target shares: language, warnings, where programs land, what is optional.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
endif()

option(LOGOS_FUZZ "Build the libFuzzer targets (needs clang++)" OFF)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)

# Warnings and floating-point rules of our own code: no contraction, ever (it changes bits).
add_library(logos_options INTERFACE)
target_compile_options(logos_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Werror -ffp-contract=off -fno-fast-math>
  # Clang counts a change of sign to -Wconversion, g++ does not: the same rules with both.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)
target_include_directories(logos_options INTERFACE ${CMAKE_SOURCE_DIR})

# logos_library(name SOURCES… LINK…): one library per folder.
function(logos_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC logos_options ${ARG_LINK})
endfunction()

include(nvcc)
