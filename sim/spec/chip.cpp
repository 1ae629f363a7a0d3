#include "spec/chip.hpp"

#include "spec/cluster.hpp"

namespace clustersim {

std::optional<FlopsPerSecond> training_matrix_rate(const Chip& chip, Precision precision) {
  if (chip.matrix[precision]) {
    return chip.matrix[precision];
  }
  return chip.vector[precision]; // no matrix units for it: products run on the vector units
}

int Cluster::chips() const {
  int total = 0;
  for (const Partition& partition : partitions) {
    total += partition.nodes * partition.node.chips;
  }
  return total;
}

} // namespace clustersim
