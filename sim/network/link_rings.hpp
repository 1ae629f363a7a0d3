#pragma once
// Rings over chips that have links of their own to some fellows only, as on a hybrid cube mesh:
// Hamiltonian cycles packed into the links, as many as these carry side by side.

#include <cstddef>
#include <vector>

namespace clustersim {

/// links[a][b]: parallel links between members a and b; symmetric, 0 = none.
using LinkMatrix = std::vector<std::vector<int>>;
using Cycle = std::vector<std::size_t>;

/// The largest set of Hamiltonian cycles, each using one link per step; exact while the search fits
/// its budget of steps, the best found after that. Three to sixteen members; empty where none fits.
[[nodiscard]] std::vector<Cycle> pack_cycles(const LinkMatrix& links);

/// A Hamiltonian path; empty where there is none.
[[nodiscard]] Cycle find_path(const LinkMatrix& links);

inline constexpr std::size_t most_ring_members = 16;

} // namespace clustersim
