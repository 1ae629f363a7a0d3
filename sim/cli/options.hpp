#pragma once
// What the command line said, apart from how it was parsed.

#include <string>
#include <vector>

namespace clustersim::cli {

struct Options {
  std::string verb;                   // empty: none
  std::vector<std::string> arguments; // what follows it
  std::vector<std::string> given;     // names of the options that were used

  std::vector<std::string> settings; // --set, in order
  std::vector<std::string> fail_on;  // --fail-on
  std::vector<std::string> chips;    // --chip
  std::string data, output, precision, threads;
  std::string topology, fabric, nodes, ranks, sizes, algorithm, concurrent; // of `collective`
  std::string colour = "auto";
  bool json = false, csv = false, quiet = false, verbose = false, help = false, version = false;
};

} // namespace clustersim::cli
