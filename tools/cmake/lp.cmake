# The common settings of all targets of lp. lp_target(base DEPENDS ...) makes one target, lp_base, alias lp::base, from
# the sources, headers and schemas of a folder and of the rooms below it, or of its ROOMS alone. SEPARATE compiles each
# source alone. With a CUDA toolkit (cuda.cmake) it takes *.cu as well; files named *_cuda.cc need the toolkit, too.

# lp_compile(TARGET SCOPE OPTION...): options of the C++ compiler, which nvcc does not know.
function(lp_compile target scope)
  target_compile_options(${target} ${scope} "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

function(lp_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  lp_compile(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
  # CMake 3.25 does not know that nvcc 13 has C++20.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--std=c++20;-Xcompiler=-Wall,-Wextra,-Werror;-Werror=all-warnings>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports false errors about "literal" + std::string (GCC PR105651). It collects garbage each time that its heap
    # has doubled, which is a tenth of its time: with these settings, only from 1 GB on.
    lp_compile(${target} PRIVATE -Wno-restrict --param ggc-min-heapsize=1000000)
    if(LP_SANITIZE)
      # With sanitizers it takes values for uninitialized that are not.
      lp_compile(${target} PRIVATE -Wno-stringop-overflow -Wno-maybe-uninitialized)
    endif()
  else()
    # clang counts names that a using directive brings, such as lp::index, as shadowed. g++ checks the others.
    lp_compile(${target} PRIVATE -Wno-shadow)
  endif()
  if(LP_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${LP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${LP_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # clang 14 cannot compile coroutines with it
      target_compile_options(${target} PUBLIC -fno-sanitize=function)
    endif()
  endif()
endfunction()

# Precompiled headers of other libraries that many sources read: reading them takes longer than compiling most sources. Programs
# have lp's own in theirs too.
set(LP_PRECOMPILED <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <coroutine> <cstdint> <cstring> <deque> <filesystem>
    <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view>
    <tuple> <unordered_map> <utility> <variant> <vector> <Eigen/Core>)

# lp_precompiled(TARGET HEADER...): a target whose precompiled headers others reuse.
function(lp_precompiled target)
  file(CONFIGURE OUTPUT ${target}.cc CONTENT "")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc)
  lp_options(${target})
  target_link_libraries(${target} PRIVATE Eigen3::Eigen Threads::Threads)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# The precompiled headers of another target. g++ 12 forgets that they are others' headers, and warns of what it believes to
# see in std::string, wherever that is inlined: one source in twelve, each without a fault.
function(lp_use_precompiled target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    lp_compile(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
    # ccache knows by this which precompiled headers a source has. What makes them must not have it: it would know the headers
    # by those that it is about to replace.
    if(LP_CCACHE)
      lp_compile(${target} PRIVATE -fpch-preprocess)
    endif()
  endif()
endfunction()

# lp_unity(TARGET SOURCE...): compiles the sources of a target together, some at a time, in the order of their folders. Most of
# the time of a source is spent on headers and templates, which they share: each part costs about 5 s more than its sources.
# A part takes up to 2 GB of memory, with sanitizers 3. A name is the only one of its target, also where it is local to a
# source. Sources with options of their own stay alone. A target with expensive sources sets a smaller LP_UNITY_SOURCES.
# -DLP_UNITY=OFF compiles each source alone: it suits those who change lp.
set(LP_UNITY_SOURCES 32)
function(lp_unity target)
  list(LENGTH ARGN count)
  math(EXPR batches "(${count} + ${LP_UNITY_SOURCES} - 1) / ${LP_UNITY_SOURCES}")
  set(i 0)
  foreach(source ${ARGN})
    math(EXPR batch "${i} * ${batches} / ${count}")
    math(EXPR i "${i} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LP_UNITY} UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # which takes the batch for the source, and the sources for headers
    lp_compile(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

function(lp_target name)
  cmake_parse_arguments(ARG "OBJECT_API;SEPARATE" "" "DEPENDS;SCHEMAS;ROOMS" ${ARGN})
  if(ARG_ROOMS)
    list(TRANSFORM ARG_ROOMS APPEND /*.cc OUTPUT_VARIABLE sources)
    list(TRANSFORM ARG_ROOMS APPEND /*.cu OUTPUT_VARIABLE kernels)
    list(TRANSFORM ARG_ROOMS APPEND /*.h OUTPUT_VARIABLE headers)
    file(GLOB sources CONFIGURE_DEPENDS ${sources})
    file(GLOB kernels CONFIGURE_DEPENDS ${kernels})
    file(GLOB headers CONFIGURE_DEPENDS ${headers})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
    file(GLOB_RECURSE kernels CONFIGURE_DEPENDS *.cu)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS *.h)
  endif()
  if(NOT LP_HAS_CUDA)
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cc$")
    set(kernels)
  endif()
  foreach(schema ${ARG_SCHEMAS})
    get_filename_component(stem ${schema} NAME_WE)
    get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR}/${schema} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    set(out ${PROJECT_BINARY_DIR}/generated/${folder}/${stem}_generated.h)
    add_custom_command(OUTPUT ${out}
      COMMAND ${LP_FLATC} --cpp --cpp-std c++17 --scoped-enums $<$<BOOL:${ARG_OBJECT_API}>:--gen-object-api> -o ${PROJECT_BINARY_DIR}/generated/${folder}
              ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
      DEPENDS ${schema} VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND generated ${out})
  endforeach()
  if(sources)
    add_library(lp_${name} STATIC ${sources} ${kernels} ${generated})
    lp_options(lp_${name})
    lp_use_precompiled(lp_${name} lp_headers)
    if(NOT ARG_SEPARATE)
      lp_unity(lp_${name} ${sources})
    endif()
    set(scope PUBLIC)
    target_include_directories(lp_${name} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/generated)
  else()
    add_library(lp_${name} INTERFACE)
    target_compile_features(lp_${name} INTERFACE cxx_std_20)
    set(scope INTERFACE)
  endif()
  add_library(lp::${name} ALIAS lp_${name})
  set_target_properties(lp_${name} PROPERTIES EXPORT_NAME ${name})
  target_sources(lp_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(lp_${name} ${scope} ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY LP_TARGETS lp_${name})
endfunction()

# lp::lp, which is all of lp; after the last lp_target.
function(lp_umbrella)
  get_property(targets GLOBAL PROPERTY LP_TARGETS)
  add_library(lp INTERFACE)
  add_library(lp::lp ALIAS lp)
  target_link_libraries(lp INTERFACE ${targets})
endfunction()
