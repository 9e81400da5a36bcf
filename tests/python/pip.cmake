# `pip install` of the package into a folder, without network; it brings its library.
include(${CMAKE_CURRENT_LIST_DIR}/../install/steps.cmake)
file(REMOVE_RECURSE ${WORK})
set(ENV{NEREID_LIBRARY} ${LIBRARY})
run(${PYTHON} -m pip install --no-index --quiet --target ${WORK}/site ${PACKAGE})
unset(ENV{NEREID_LIBRARY})
set(ENV{PYTHONPATH} ${WORK}/site)
run(${PYTHON} ${TEST})
if(NOT EXISTS ${WORK}/site/nereid/libnereid.so.1)
  message(FATAL_ERROR "the library is not in the package")
endif()

# What cannot be found is the machine's fault, with a remedy.
set(ENV{NEREID_LIBRARY} ${WORK}/missing.so)
run(${PYTHON} -c "
import nereid
try:
    nereid.version()
except nereid.EnvironmentFault as error:
    assert 'missing.so' in str(error) and 'NEREID_LIBRARY' in error.remedy, error
else:
    raise SystemExit('found')
")
