# The simulator by itself: `cmake --install BUILD --component sim --prefix DIR` installs sim/ and base/, and a
# package that `find_package(nereid_sim)` finds; its target is nereid::sim.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/nereid_sim)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/nereid_sim)

set_target_properties(nereid_sim PROPERTIES EXPORT_NAME sim)
set_target_properties(nereid_base PROPERTIES EXPORT_NAME base)
install(TARGETS nereid_base nereid_sim EXPORT nereid_sim
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sim
        INCLUDES DESTINATION ${headers})
install(EXPORT nereid_sim NAMESPACE nereid:: FILE nereid_sim-targets.cmake DESTINATION ${package} COMPONENT sim)

install(FILES base/error.h base/result.h DESTINATION ${headers}/base COMPONENT sim)
install(FILES sim/checks.h sim/code_object.h sim/coverage.h sim/definedness.h sim/effects.h sim/execution.h sim/instruction.h
              sim/launch_file.h sim/machine.h sim/memory.h sim/program.h sim/simd.h sim/wave.h
        DESTINATION ${headers}/sim COMPONENT sim)

configure_package_config_file(cmake/nereid_sim-config.cmake.in ${PROJECT_BINARY_DIR}/nereid_sim-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nereid_sim-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nereid_sim-config.cmake ${PROJECT_BINARY_DIR}/nereid_sim-config-version.cmake
        DESTINATION ${package} COMPONENT sim)
