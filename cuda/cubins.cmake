# Cubins of kernels/kernels.cu, one for each of LOGOS_CUDA_ARCHITECTURES, and what embeds them.
#
# Two steps an architecture, so that the PTX that is checked is the PTX that is shipped:
# kernels.cu -> kernels.sm_X.ptx -> kernels.sm_X.cubin, with ptxas's report kernels.sm_X.report.
# The PTX of the first architecture is embedded as well, for devices newer than every cubin.
set(LOGOS_CUBIN_DIR ${CMAKE_BINARY_DIR}/cubins)

# logos_cuda_compile(ptx|cubin source output report architecture)
function(logos_cuda_compile kind source output report architecture)
  if(kind STREQUAL ptx)
    set(arch compute_${architecture})
  else()
    set(arch sm_${architecture})
  endif()
  set(depfile ${output}.d)
  set(flags -std=c++20 --fmad=false -O3 -I${CMAKE_SOURCE_DIR} -arch=${arch} -${kind} -Xptxas -v)
  if(kind STREQUAL ptx)
    list(APPEND flags -MD -MF ${depfile})
    set(dependencies DEPFILE ${depfile})
  endif()
  list(JOIN flags "|" flags)
  add_custom_command(
    OUTPUT ${output} ${report}
    COMMAND ${CMAKE_COMMAND} -DNVCC=${LOGOS_NVCC} -DFLAGS=${flags} -DSOURCE=${source}
            -DOUTPUT=${output} -DREPORT=${report} -P ${CMAKE_SOURCE_DIR}/cuda/checks/run_nvcc.cmake
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/cuda/checks/run_nvcc.cmake
    ${dependencies}
    COMMENT "nvcc ${kind} for ${arch}"
    VERBATIM)
endfunction()

# logos_cubins(target source embedded): builds all; `embedded` receives a C++ file that defines
# logos::cuda::embedded_cubins().
function(logos_cubins target source embedded)
  file(MAKE_DIRECTORY ${LOGOS_CUBIN_DIR})
  set(cubins)
  set(images)
  set(entries)
  list(GET LOGOS_CUDA_ARCHITECTURES 0 first)
  foreach(architecture IN LISTS LOGOS_CUDA_ARCHITECTURES)
    set(base ${LOGOS_CUBIN_DIR}/kernels.sm_${architecture})
    logos_cuda_compile(ptx ${source} ${base}.ptx ${base}.ptx.report ${architecture})
    logos_cuda_compile(cubin ${base}.ptx ${base}.cubin ${base}.report ${architecture})
    list(APPEND cubins ${base}.ptx ${base}.cubin ${base}.report)
    string(APPEND images "LOGOS_IMAGE(sm_${architecture}, \"${base}.cubin\");\n")
    string(APPEND entries "    LOGOS_ENTRY(sm_${architecture}, false),\n")
  endforeach()
  string(APPEND images "LOGOS_IMAGE(compute_${first}, \"${LOGOS_CUBIN_DIR}/kernels.sm_${first}.ptx\");")
  string(APPEND entries "    LOGOS_ENTRY(compute_${first}, true),")
  add_custom_target(${target} ALL DEPENDS ${cubins})
  set(LOGOS_IMAGES "${images}")
  set(LOGOS_ENTRIES "${entries}")
  configure_file(${CMAKE_SOURCE_DIR}/cuda/embedded_cubins.cc.in ${LOGOS_CUBIN_DIR}/embedded_cubins.cc
                 @ONLY)
  set_source_files_properties(${LOGOS_CUBIN_DIR}/embedded_cubins.cc PROPERTIES
                              OBJECT_DEPENDS "${cubins}")
  set(${embedded} ${LOGOS_CUBIN_DIR}/embedded_cubins.cc PARENT_SCOPE)
endfunction()
