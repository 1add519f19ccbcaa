# Settings for building lp itself as the top-level project: they are never forced on a user's project.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(LP_CCACHE ccache)
if(LP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches sources with precompiled headers only with these settings.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${LP_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${LP_CCACHE})
endif()

find_program(LP_LLD ld.lld)
if(LP_LLD)
  add_link_options(-fuse-ld=lld)
endif()
