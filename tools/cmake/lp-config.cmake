# find_package(lp) reads this file: it finds the libraries that lp links with, then defines lp's own targets.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(Boost 1.74 COMPONENTS program_options)
find_dependency(yaml-cpp)
find_dependency(Eigen3 3.4 NO_MODULE)
find_dependency(PkgConfig)
pkg_check_modules(ZeroMQ REQUIRED QUIET IMPORTED_TARGET libzmq)
pkg_check_modules(Zstd REQUIRED QUIET IMPORTED_TARGET libzstd)

include(${CMAKE_CURRENT_LIST_DIR}/lp-targets.cmake)
