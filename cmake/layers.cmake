# One static library per layer, named after its folder, so that the link graph repeats the picture in
# sim/README.md. `DEPENDS` lists the layers it may include from; tests/hygiene checks the same edges in
# the sources.
function(clustersim_layer name)
  cmake_parse_arguments(LAYER "" "" "DEPENDS;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    add_library(clustersim_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(clustersim_${name} STATIC ${sources})
    target_link_libraries(clustersim_${name} PRIVATE clustersim_options ${LAYER_PRIVATE_LIBRARIES})
    set(scope PUBLIC)
  endif()
  target_include_directories(clustersim_${name} ${scope} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(lower IN LISTS LAYER_DEPENDS)
    target_link_libraries(clustersim_${name} ${scope} clustersim_${lower})
  endforeach()
endfunction()

# One doctest program per folder tests/<kind>/<name>/ or tests/<kind>/, linked against a layer.
function(clustersim_test name directory)
  cmake_parse_arguments(TEST "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} $<TARGET_OBJECTS:clustersim_test_main>)
  target_link_libraries(${name} PRIVATE clustersim_options doctest::doctest ${TEST_LIBRARIES})
  # g++ 12 at -O3 mistakes an empty std::optional for an uninitialised one (GCC bug 80635).
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    CLUSTERSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    CLUSTERSIM_PROGRAM="$<$<TARGET_EXISTS:clustersim>:$<TARGET_FILE:clustersim>>")
  foreach(lower IN LISTS TEST_DEPENDS)
    target_link_libraries(${name} PRIVATE clustersim_${lower})
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
