# Writes build_facts.h into the build folder: run at every build, but the file is touched only when
# commit or state changed, so that nothing is rebuilt without cause.
# Takes SOURCE_DIR, INPUT, OUTPUT, LOGOS_VERSION, LOGOS_BUILD_TYPE.
set(LOGOS_GIT_COMMIT "")
set(LOGOS_GIT_DIRTY 0)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse HEAD WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  # Only a repository of our own counts, not one that the sources happen to lie in.
  execute_process(COMMAND ${GIT} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND prefix STREQUAL "")
    set(LOGOS_GIT_COMMIT ${commit})
    # --no-optional-locks: a build must not take the index from a person who commits meanwhile.
    execute_process(COMMAND ${GIT} --no-optional-locks status --porcelain --untracked-files=no
                    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(LOGOS_GIT_DIRTY 1)
    endif()
  endif()
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
