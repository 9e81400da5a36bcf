# How everything is compiled: optimised unless somebody says otherwise, and through ccache where it is there.

# Without a build type code is slow: a program of its own is then a release, the targets of a part of a larger
# project are optimised whatever that project does with its own.
set(NEREID_DEFAULT_OPTIMISATION "")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo or MinSizeRel" FORCE)
  else()
    set(NEREID_DEFAULT_OPTIMISATION -O2)
  endif()
endif()

if(NEREID_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(NEREID_CCACHE_PROGRAM ccache)
  if(NEREID_CCACHE_PROGRAM)
    # What ccache has to overlook to keep results that were compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        ${NEREID_CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${NEREID_CCACHE_PROGRAM})
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endif()
