#pragma once
// Ctrl-C and SIGTERM as a question that long work asks now and then. A second one ends the program
// at once, as without this.

#include "base/diagnostic.hpp"

namespace clustersim::cli {

class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  [[nodiscard]] bool asked() const;
  [[nodiscard]] ExitCode exit_code() const; // of the signal that came
};

} // namespace clustersim::cli
