# Installing: `cmake --install BUILD --prefix DIR`, of all or of one component:
#   runtime   libnereid.so.1, which programs of the C API run with
#   c         libnereid.so, its header, nereid.pc; they need the component runtime
#   cpp       the C++ libraries and headers; they need the component sim
#   hip       libnereid_hip.so, HIP on the simulator
#   command   the nereid command
# find_package(Nereid COMPONENTS c cpp) finds the first two: nereid::c and nereid::nereid, nereid::kernels.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Nereid)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/nereid)

# LLVM's shared library is named by its folder only where the loader does not find it by itself. (Debian's folder for it
# belongs to the development package, which users of the library do not need.)
find_library(NEREID_LOADED_LLVM libLLVM.so.${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR}
             PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib NO_DEFAULT_PATH)
if(NEREID_LOADED_LLVM)
  set(name_llvm OFF)
else()
  set(name_llvm ON)
endif()

# Component c.
set_target_properties(nereid_c PROPERTIES EXPORT_NAME c INSTALL_RPATH_USE_LINK_PATH ${name_llvm})
install(TARGETS nereid_c EXPORT Nereid_c
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT c
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT Nereid_c NAMESPACE nereid:: FILE Nereid-c-targets.cmake DESTINATION ${package} COMPONENT c)
install(FILES include/nereid/c_api.h DESTINATION ${headers} COMPONENT c)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(cmake/nereid.pc.in ${PROJECT_BINARY_DIR}/nereid.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nereid.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)

# Component cpp. The headers include each other by their path below DIR/include/nereid.
set(libraries kernels kernels_host inspect jit codegen dsl)
foreach(library IN LISTS libraries)
  set_target_properties(nereid_${library} PROPERTIES EXPORT_NAME ${library})
endforeach()
list(TRANSFORM libraries PREPEND nereid_)
install(TARGETS nereid ${libraries} EXPORT Nereid_cpp
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${headers})
install(EXPORT Nereid_cpp NAMESPACE nereid:: FILE Nereid-cpp-targets.cmake DESTINATION ${package} COMPONENT cpp)
install(FILES include/nereid/nereid.h include/nereid/inspect.h DESTINATION ${headers} COMPONENT cpp)
file(STRINGS cmake/public_headers.txt public_headers REGEX "^[^#]")
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${headers}/${folder} COMPONENT cpp)
endforeach()

# Component hip. Only who names the folder finds it in place of AMD's library.
set_target_properties(nereid_hip PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${name_llvm})
install(TARGETS nereid_hip LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/nereid COMPONENT hip)
install(FILES ${PROJECT_BINARY_DIR}/lib/hip/libamdhip64.so.7
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/nereid/hip COMPONENT hip)

if(TARGET nereid-command)
  set_target_properties(nereid-command PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${name_llvm})
  install(TARGETS nereid-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()

configure_package_config_file(cmake/Nereid-config.cmake.in ${PROJECT_BINARY_DIR}/NereidConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS c cpp)
  install(FILES ${PROJECT_BINARY_DIR}/NereidConfig.cmake ${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake
          DESTINATION ${package} COMPONENT ${component})
endforeach()
