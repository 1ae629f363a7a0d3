#pragma once
// How terms of memory are collected and how what divides them is spelled.

#include "plan/memory.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// The terms of one stage; nothing is no term.
class TermList {
public:
  void add(std::string name, Bytes bytes, std::string sharded_by) {
    if (bytes > Bytes{0}) terms_.push_back({std::move(name), bytes, std::move(sharded_by)});
  }
  [[nodiscard]] Bytes sum() const {
    Bytes total;
    for (const MemoryTerm& term : terms_)
      total += term.bytes;
    return total;
  }
  [[nodiscard]] std::vector<MemoryTerm> take() { return std::move(terms_); }

private:
  std::vector<MemoryTerm> terms_;
};

/// "tensor × data", of the axes that divide something.
inline std::string by_axes(std::initializer_list<std::pair<bool, const char*>> axes) {
  std::string out;
  for (const auto& [divides, name] : axes) {
    if (divides) out += (out.empty() ? "" : " × ") + std::string(name);
  }
  return out;
}

} // namespace clustersim
