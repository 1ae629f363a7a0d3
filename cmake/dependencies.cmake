# All from Debian packages; ./dev installs them. Heavy headers: each is used by one layer only.
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost 1.74 REQUIRED) # header-only use: Boost.Graph
find_package(NLopt REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(OpenMP REQUIRED COMPONENTS CXX)
if(CLUSTERSIM_BUILD_TESTS)
  find_package(doctest REQUIRED)
endif()
