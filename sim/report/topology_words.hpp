#pragma once
// Words that the texts and the pictures of a machine share.

#include "study/topology.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string plural(std::string_view noun, std::int64_t count);
[[nodiscard]] std::string ratio_text(double ratio); // "2 : 1", "1 : 8"
/// "0-7, 16-23": at most `most` stretches, then how many more there are.
[[nodiscard]] std::string ranges_text(const std::vector<std::size_t>& numbers, std::size_t most);
/// What the fabric's file says of it, full.
[[nodiscard]] std::string fabric_sentence(const Partition& partition);
/// Of an answer with loads.
[[nodiscard]] std::string load_sentence(const TopologyAnswer& answer);

} // namespace clustersim
