#pragma once
// A broken invariant of ours. Never thrown for bad input: that is a Diagnostic.

#include <stdexcept>
#include <string>

namespace clustersim {

class Bug : public std::logic_error {
public:
  explicit Bug(const std::string& what) : std::logic_error(what) {}
};

} // namespace clustersim
