# Finds SystemC. Sets
#   LOGOS_SYSTEMC          TRUE where it is there; then the target logos_systemc carries its flags
#   LOGOS_SYSTEMC_REASON   one line: which one, or why none
set(LOGOS_WITH_SYSTEMC AUTO CACHE STRING "Build the spatial chip: AUTO (where SystemC is), ON, OFF")
set_property(CACHE LOGOS_WITH_SYSTEMC PROPERTY STRINGS AUTO ON OFF)
if(NOT LOGOS_WITH_SYSTEMC MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "LOGOS_WITH_SYSTEMC: got ${LOGOS_WITH_SYSTEMC}, want AUTO, ON or OFF")
endif()

set(LOGOS_SYSTEMC FALSE)
set(LOGOS_SYSTEMC_REASON "LOGOS_WITH_SYSTEMC is OFF")
if(NOT LOGOS_WITH_SYSTEMC STREQUAL OFF)
  # Debian's package has no CMake files.
  pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
  set(LOGOS_SYSTEMC_REASON "pkg-config knows no systemc")
  if(SYSTEMC_FOUND)
    set(LOGOS_SYSTEMC_REASON "systemc: want 2.3.4 or newer, got ${SYSTEMC_VERSION}")
    if(SYSTEMC_VERSION VERSION_GREATER_EQUAL 2.3.4)
      set(LOGOS_SYSTEMC TRUE)
      set(LOGOS_SYSTEMC_REASON "SystemC ${SYSTEMC_VERSION}")
    endif()
  endif()
  if(LOGOS_WITH_SYSTEMC STREQUAL ON AND NOT LOGOS_SYSTEMC)
    message(FATAL_ERROR "LOGOS_WITH_SYSTEMC is ON: ${LOGOS_SYSTEMC_REASON}")
  endif()
endif()

if(LOGOS_SYSTEMC)
  # The library is compiled as C++17 and checks that at link time; ours is C++20.
  add_library(logos_systemc INTERFACE)
  target_compile_definitions(logos_systemc INTERFACE SC_CPLUSPLUS=201703L
                                                     SC_INCLUDE_DYNAMIC_PROCESSES)
  target_link_libraries(logos_systemc INTERFACE PkgConfig::SYSTEMC)
endif()
