# Every warning is an error, on both compilers we support, and nothing may depend on the build machine:
# no fast-math, no fused multiply-add contraction, no -march=native, so that the same input gives the
# same bytes everywhere.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(clustersim_options INTERFACE)
target_compile_options(clustersim_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 on std::string ("literal" + string): GCC bug 105651.
  target_compile_options(clustersim_options INTERFACE -Wno-restrict)
endif()
# Transcendental functions of constants are folded with different roundings by different compilers.
target_compile_options(clustersim_options INTERFACE -fno-builtin-pow -fno-builtin-exp -fno-builtin-log
  -fno-builtin-log2 -fno-builtin-log10)
if(CLUSTERSIM_SANITIZE)
  target_compile_options(clustersim_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(clustersim_options INTERFACE -fsanitize=address,undefined)
endif()
