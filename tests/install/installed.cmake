# Installs BUILD into WORK/prefix: a C++ project finds it by find_package, a C program by pkg-config; both run.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(ENV{NEREID_CACHE_DIR} off)
file(REMOVE_RECURSE ${WORK})

# Without the C++ part the package says what is missing.
set(prefix ${WORK}/prefix)
set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_BUILD_TYPE=Release -DEXAMPLES=${EXAMPLES}
    -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_C_FLAGS=${FLAGS})
foreach(component IN ITEMS runtime c sim)
  run(${CMAKE_COMMAND} --install ${BUILD} --component ${component} --prefix ${prefix})
endforeach()
execute_process(COMMAND ${configure} RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "a package without its component cpp was found with it")
endif()
expect("${output}" "component[ \n]+cpp[ \n]+is[ \n]+not[ \n]+installed")

foreach(component IN ITEMS cpp hip command)
  run(${CMAKE_COMMAND} --install ${BUILD} --component ${component} --prefix ${prefix})
endforeach()
# What is installed does not lean on the tree that it was built in.
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  foreach(tree IN ITEMS ${SOURCE} ${BUILD})
    string(FIND "${content}" "${tree}/" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${text} names ${tree}")
    endif()
  endforeach()
endforeach()

run(${configure})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/vector_add)
expect("${output}" "vector_add: 5000 elements on .*, 0 wrong")
run(${WORK}/build/kernel_library)
expect("${output}" "fused_gemm: .*, right")
run(${WORK}/build/linear)
expect("${output}" "mxfp4_linear: .*, 0 wrong")
run(${prefix}/bin/nereid --version)
expect("${output}" "${VERSION}")

# C by pkg-config, from a prefix that has moved.
file(RENAME ${prefix} ${WORK}/moved)
set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/${LIBDIR}/pkgconfig)
run(pkg-config --cflags --libs nereid)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CC} ${FLAGS} -std=c11 ${EXAMPLES}/c/mxfp4_linear.c ${flags} -o ${WORK}/linear)
set(ENV{LD_LIBRARY_PATH} ${WORK}/moved/${LIBDIR})
run(${WORK}/linear)
expect("${output}" "mxfp4_linear: .*, 0 wrong")
run(pkg-config --modversion nereid)
expect("${output}" "${VERSION}")

# Shared libraries export their C interface only.
run(nm -D --defined-only --extern-only --format=just-symbols ${WORK}/moved/${LIBDIR}/libnereid.so)
string(REGEX REPLACE "(nereid_[a-z0-9_]+@@)?NEREID_C_1\n" "" others "${output}")
if(NOT others STREQUAL "")
  message(FATAL_ERROR "libnereid.so also exports ${others}")
endif()
