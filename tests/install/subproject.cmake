# In a project without a build type Nereid is optimised all the same, and installs nothing of its own.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${WORK} -G ${GENERATOR}
    -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DNEREID=${SOURCE})
file(READ ${WORK}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON command GET "${commands}" ${index} command)
  expect("${command}" " -O[23]")
endforeach()
run(${CMAKE_COMMAND} --install ${WORK} --prefix ${WORK}/prefix)
if(EXISTS ${WORK}/prefix)
  message(FATAL_ERROR "a part of a larger project installs what that project did not ask for")
endif()
