# Finds the CUDA compiler and tries it: the lane's kernels run on the host without it, so a missing
# or broken one costs only the cubins (with LOGOS_WITH_CUDA=ON it is an error). Sets
#   LOGOS_CUDA         TRUE where cubins can be built
#   LOGOS_NVCC         the compiler
#   LOGOS_NVCC_REASON  one line: which one and why, or why none
# CUDACXX wins and is not passed over when it is broken; then nvcc on PATH, then /usr/local/cuda*,
# the newest first: the first that compiles a kernel is taken.
set(LOGOS_WITH_CUDA AUTO CACHE STRING "Build CUDA cubins: AUTO (where nvcc works), ON, OFF")
set_property(CACHE LOGOS_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)
set(LOGOS_CUDA_ARCHITECTURES "80;90a" CACHE STRING
  "GPU architectures that cubins are built for (the release preset has 80;89;90a;100a;120a)")
if(NOT LOGOS_WITH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "LOGOS_WITH_CUDA: got ${LOGOS_WITH_CUDA}, want AUTO, ON or OFF")
endif()

# Compiles one kernel for every architecture asked for. `error`: "" or the first line of what went
# wrong.
function(logos_try_nvcc nvcc error)
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_probe)
  file(WRITE ${folder}/probe.cu "__global__ void probe(int* x) { *x = 1; }\n")
  set(${error} "" PARENT_SCOPE)
  foreach(architecture IN LISTS LOGOS_CUDA_ARCHITECTURES)
    execute_process(
      COMMAND ${nvcc} -std=c++20 -cubin -arch=sm_${architecture}
              -o ${folder}/probe.cubin ${folder}/probe.cu
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 120)
    if(NOT status EQUAL 0)
      string(STRIP "${output}" output)
      string(REGEX REPLACE "[\n;].*" "" output "${output}")
      set(${error} "sm_${architecture}: status ${status}: ${output}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Fills `candidates` with `path|why it is one`.
function(logos_nvcc_candidates candidates)
  set(found)
  if(DEFINED ENV{CUDACXX})
    set(found "$ENV{CUDACXX}|CUDACXX names it")
  else()
    find_program(on_path nvcc NO_CACHE NO_CMAKE_PATH NO_CMAKE_SYSTEM_PATH)
    if(on_path)
      list(APPEND found "${on_path}|it is on PATH")
    endif()
    file(GLOB installed /usr/local/cuda-*/bin/nvcc)
    list(SORT installed COMPARE NATURAL ORDER DESCENDING)
    foreach(path IN ITEMS /usr/local/cuda/bin/nvcc ${installed})
      if(EXISTS ${path})
        list(APPEND found "${path}|it is installed there")
      endif()
    endforeach()
  endif()
  set(${candidates} "${found}" PARENT_SCOPE)
endfunction()

set(LOGOS_CUDA FALSE)
set(LOGOS_NVCC "")
set(LOGOS_NVCC_REASON "")
if(LOGOS_WITH_CUDA STREQUAL OFF)
  set(LOGOS_NVCC_REASON "LOGOS_WITH_CUDA is OFF")
else()
  logos_nvcc_candidates(candidates)
  set(broken)
  foreach(candidate IN LISTS candidates)
    string(REGEX REPLACE "\\|.*" "" nvcc "${candidate}")
    string(REGEX REPLACE ".*\\|" "" why "${candidate}")
    set(attempt "${nvcc} for ${LOGOS_CUDA_ARCHITECTURES}")
    set(error "")
    if(NOT attempt STREQUAL "${LOGOS_NVCC_TRIED}")  # what worked once is not tried again
      logos_try_nvcc(${nvcc} error)
    endif()
    if(error STREQUAL "")
      set(LOGOS_NVCC_TRIED "${attempt}" CACHE INTERNAL "the nvcc that last worked")
      set(LOGOS_CUDA TRUE)
      set(LOGOS_NVCC ${nvcc})
      set(LOGOS_NVCC_REASON "${nvcc}: ${why}${broken}")
      break()
    endif()
    string(APPEND broken "; ${nvcc} does not work (${error})")
  endforeach()
  if(NOT LOGOS_CUDA)
    set(places "PATH or in /usr/local/cuda*")
    if(DEFINED ENV{CUDACXX})
      set(places "CUDACXX, which alone counts when it is set")
    endif()
    set(LOGOS_NVCC_REASON "no working nvcc in ${places}${broken}")
    if(LOGOS_WITH_CUDA STREQUAL ON)
      message(FATAL_ERROR "LOGOS_WITH_CUDA is ON, but: ${LOGOS_NVCC_REASON}")
    endif()
  endif()
endif()
message(STATUS "CUDA compiler: ${LOGOS_NVCC_REASON}")
