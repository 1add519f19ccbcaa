# cmake --install, and find_package(lp) for those who use it: lp::lp, or lp::base and its like one by one. The headers go
# into include/lp, so that #include "nodes/..." cannot meet another project's.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lp)
get_property(targets GLOBAL PROPERTY LP_TARGETS)
install(TARGETS ${targets} lp EXPORT lp-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lp)
install(EXPORT lp-targets NAMESPACE lp:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES tools/cmake/lp-config.cmake ${PROJECT_BINARY_DIR}/lp-config-version.cmake DESTINATION ${package})
