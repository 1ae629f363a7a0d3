#pragma once
// Max-plus matrices on the vector of clocks (host, compute lane, other lanes).
//
// x' = A ⊗ x with x'_i = max_j (A_ij + x_j). Composition is associative, so a block is one matrix,
// a sequence a product and a loop a power (Baccelli, Cohen, Olsder, Quadrat, "Synchronization and
// Linearity", Wiley 1992, ch. 1 and 3). −∞ is "does not depend on".

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace clustersim {

template <std::size_t N>
class MaxPlus {
public:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  /// The identity: every clock keeps its value.
  constexpr MaxPlus() {
    entries_.fill(never);
    for (std::size_t i = 0; i < N; ++i) {
      at(i, i) = 0.0;
    }
  }

  // Column by column: products and applications then run over contiguous numbers.
  [[nodiscard]] constexpr double& at(std::size_t row, std::size_t column) {
    return entries_[column * N + row];
  }
  [[nodiscard]] constexpr double at(std::size_t row, std::size_t column) const {
    return entries_[column * N + row];
  }

  // Elementary updates, applied after what the matrix already does.
  constexpr void delay(std::size_t clock, double time) {
    for (std::size_t j = 0; j < N; ++j) {
      at(clock, j) += time;
    }
  }
  constexpr void wait_for(std::size_t clock, std::size_t other) {
    for (std::size_t j = 0; j < N; ++j) {
      at(clock, j) = at(clock, j) < at(other, j) ? at(other, j) : at(clock, j);
    }
  }

  /// `later` after `earlier`.
  [[nodiscard]] friend constexpr MaxPlus operator*(const MaxPlus& later, const MaxPlus& earlier) {
    MaxPlus product;
    product.entries_.fill(never);
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t k = 0; k < N; ++k) {
        const double first = earlier.at(k, j);
        if (first == never) continue;
        for (std::size_t i = 0; i < N; ++i) {
          const double path = later.at(i, k) + first;
          product.at(i, j) = path > product.at(i, j) ? path : product.at(i, j);
        }
      }
    }
    return product;
  }

  /// `count` times in a row, by squaring.
  [[nodiscard]] constexpr MaxPlus power(std::int64_t count) const {
    MaxPlus result;
    MaxPlus square = *this;
    for (bool first = true; count > 0; count /= 2) {
      if (count % 2 == 1) {
        result = first ? square : result * square;
        first = false;
      }
      if (count > 1) {
        square = square * square;
      }
    }
    return result;
  }

  /// The clocks after, from the clocks before.
  [[nodiscard]] constexpr std::array<double, N> apply(const std::array<double, N>& before) const {
    std::array<double, N> after{};
    after.fill(never);
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t i = 0; i < N; ++i) {
        const double path = at(i, j) + before[j];
        after[i] = path > after[i] ? path : after[i];
      }
    }
    return after;
  }

  /// What one clock shows at the end when all start at zero.
  [[nodiscard]] constexpr double finish(std::size_t clock) const {
    double latest = never;
    for (std::size_t j = 0; j < N; ++j) {
      latest = at(clock, j) > latest ? at(clock, j) : latest;
    }
    return latest;
  }

private:
  std::array<double, N * N> entries_{};
};

} // namespace clustersim
