#pragma once
// Random step programs of one class: kernels, overlapped collectives, joins, nested loops.

#include "plan/step_program.hpp"

#include <cstdint>
#include <random>

namespace clustersim::test {

inline Op random_op(std::mt19937& random) {
  std::uniform_int_distribution<int> kind(0, 5);
  std::uniform_real_distribution<double> size(1e3, 1e9);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  Op op;
  op.phase = kind(random) < 3 ? Phase::forward : Phase::backward;
  switch (kind(random)) {
  case 0:
    op.work = Join{kind(random) < 3 ? Lane::tensor : Lane::data};
    return op;
  case 1:
  case 2:
    op.lane = kind(random) < 3 ? Lane::tensor : Lane::data;
    op.work = Collective{CollectiveKind::all_reduce, Axis::tensor, {8, 1}, Bytes{size(random)}, 2};
    op.hidden = share(random);
    return op;
  case 3:
    op.work = GemmShape{512, 4096, 4096};
    return op;
  default:
    op.work = MemoryKernel{KernelClass::elementwise, Bytes{size(random)}, Flops{0}, 1};
    return op;
  }
}

inline StepProgram random_program(std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> few(1, 4);
  StepProgram program;
  for (std::size_t b = 0, blocks = few(random); b < blocks; ++b) {
    Block& block = program.blocks.emplace_back();
    for (std::size_t o = 0, ops = few(random) * 2; o < ops; ++o) {
      block.ops.push_back(random_op(random));
    }
  }
  for (std::size_t s = 0, sequences = few(random); s < sequences; ++s) {
    Sequence& sequence = program.sequences.emplace_back();
    for (std::size_t i = 0, items = few(random); i < items; ++i) {
      const bool nest = s > 0 && few(random) == 1;
      sequence.items.push_back({nest ? Item::What::sequence : Item::What::block,
                                few(random) % (nest ? s : program.blocks.size()),
                                static_cast<std::int64_t>(few(random) * 3 - 3)});
    }
  }
  program.classes.push_back({"all", 128, program.sequences.size() - 1});
  return program;
}

} // namespace clustersim::test
