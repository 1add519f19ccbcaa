# cmake --install, and find_package(lp) for those who use it.
