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

foreach(header IN ITEMS
    base/error.h base/result.h
    sim/code_object.h sim/coverage.h sim/execution.h sim/launch_file.h sim/machine.h sim/memory.h
    sim/decode/coverage.h sim/decode/program.h
    sim/launch/instruction_counts.h sim/launch/launch.h sim/launch/launch_time.h sim/launch_file/launch_file.h
    sim/timing/launch_profile.h
    sim/object/code_object.h sim/object/line_table.h
    sim/run/execution.h sim/run/machine.h
    sim/state/checks.h sim/state/definedness.h sim/state/effects.h sim/state/fault.h sim/state/instruction.h
    sim/state/isa_limits.h sim/state/matrix_shape.h sim/state/memory.h sim/state/operand_type.h
    sim/state/operation.h sim/state/simd.h sim/state/taint.h sim/state/wave.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${headers}/${folder} COMPONENT sim)
endforeach()

configure_package_config_file(cmake/nereid_sim-config.cmake.in ${PROJECT_BINARY_DIR}/nereid_sim-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nereid_sim-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nereid_sim-config.cmake ${PROJECT_BINARY_DIR}/nereid_sim-config-version.cmake
        DESTINATION ${package} COMPONENT sim)
