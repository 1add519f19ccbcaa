# cmake --install, and find_package(lp) for its users: lp::lp, or single libraries such as lp::base. The headers go into
# include/lp, so that #include "nodes/..." cannot find the headers of another project.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lp)
get_property(targets GLOBAL PROPERTY LP_TARGETS)
install(TARGETS ${targets} lp EXPORT lp-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lp)
install(EXPORT lp-targets NAMESPACE lp:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lp-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(tools/cmake/lp-config.cmake.in ${PROJECT_BINARY_DIR}/lp-config.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lp-config.cmake ${PROJECT_BINARY_DIR}/lp-config-version.cmake DESTINATION ${package})
