# How lp itself is built when it is nobody's sub-project: never forced on a user.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(LP_CCACHE ccache)
if(LP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LP_CCACHE})
endif()

find_program(LP_LLD ld.lld)
if(LP_LLD)
  add_link_options(-fuse-ld=lld)
endif()
