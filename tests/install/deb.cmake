# The Debian packages of BUILD: what they depend on and what they hold.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK})
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK} -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)

# check(PACKAGE DEPENDS FILE...): control data match each of DEPENDS, the files are there.
function(check package depends)
  file(GLOB deb ${WORK}/${package}_${VERSION}_*.deb)
  run(dpkg-deb -I ${deb})
  foreach(dependency IN LISTS depends)
    expect("${output}" "Depends:[^\n]*${dependency}")
  endforeach()
  run(dpkg-deb -c ${deb})
  foreach(file IN LISTS ARGN)
    expect("${output}" "\\./usr/${file}[ \n]")
  endforeach()
endfunction()

check(libnereid1 "libllvm22;libfmt9;libstdc\\+\\+6;libc6" ${LIBDIR}/libnereid.so.1 ${LIBDIR}/nereid/libnereid_hip.so
      ${LIBDIR}/nereid/hip/libamdhip64.so.7)
check(libnereid-dev "libnereid1 \\(= ${VERSION}\\);llvm-22-dev;liblld-22-dev;libfmt-dev" include/nereid/c_api.h
      include/nereid/nereid.h include/nereid/kernels/mxfp4_linear.h include/nereid_sim/sim/machine.h
      ${LIBDIR}/libnereid.so ${LIBDIR}/libnereid_kernels.a ${LIBDIR}/libnereid_sim.a
      ${LIBDIR}/pkgconfig/nereid.pc ${LIBDIR}/cmake/Nereid/NereidConfig.cmake)
check(nereid "libllvm22;libfmt9" bin/nereid)
