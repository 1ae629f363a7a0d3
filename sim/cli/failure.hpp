#pragma once
// Ends a verb early: what to say on standard error and the exit code. Bad scenario files are
// Diagnostics; this is for the command line and the operating system.

#include "base/diagnostic.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace clustersim::cli {

class Failure : public std::runtime_error {
public:
  Failure(ExitCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  [[nodiscard]] ExitCode code() const { return code_; }
  /// A remedy in words, on a line of its own; may be empty.
  [[nodiscard]] const std::string& hint() const { return hint_; }

private:
  ExitCode code_;
  std::string hint_;
};

/// What is wrong with a command line, and the nearest name that would have been right.
[[nodiscard]] inline Failure misuse(const std::string& message, std::string hint = {}) {
  return {ExitCode::bad_input, message, std::move(hint)};
}

} // namespace clustersim::cli
