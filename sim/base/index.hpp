#pragma once
// An index is a type too: a RankId cannot be used where an EdgeId is wanted.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace clustersim {

template <class Tag>
struct Index {
  std::uint32_t value = 0;
  constexpr Index() = default;
  explicit constexpr Index(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  [[nodiscard]] constexpr std::size_t at() const { return value; }
  friend constexpr auto operator<=>(Index, Index) = default;
};

} // namespace clustersim
