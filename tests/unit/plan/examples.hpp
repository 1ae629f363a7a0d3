#pragma once
// Scenarios for the tests of sim/plan, built by hand so that no file can change what a test means.

#include "plan/lower.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace clustersim::test {

/// GPT-3 175B as Megatron trains it: vocabulary padded to 51,200, 4h MLP, learned positions.
Transformer gpt3();
/// Llama 3 70B.
Transformer llama3_70b();
/// A square GPT with `heads` heads of 64 and a 4h MLP.
Transformer small_gpt(std::int64_t layers, std::int64_t heads);

/// One kernel at every site, moving 2 elements forward and 3 backward.
FusionRecipe plain_recipe();

/// Two FP32 moments, one pass.
Optimizer adamw();
/// A model on a chip with one fused attention kernel, one rank, one micro-batch of one sequence;
/// the stack asks for `attention`.
Scenario example(Transformer model, std::int64_t sequence, const char* attention = "fused");
/// The same job over more ranks: global batch = micro-batches · data.
void spread(Scenario& scenario, int tensor, int data, std::int64_t micro_batches);

/// Calls every operator of one rank's step with the number of times it runs.
void for_each_op(const StepProgram& program,
                 const std::function<void(const Op& op, std::int64_t calls)>& visit);
/// Σ calls · value over the operators for which `value` is not zero.
double sum_over_step(const StepProgram& program, const std::function<double(const Op& op)>& value);

/// Of one step of all ranks.
double program_model_flops(const Scenario& scenario);

Block block_named(const StepProgram& program, const char* name);

/// 2·batch·m·n·k of a matrix product, 0 for anything else.
double gemm_flops(const Op& op);
/// Bytes that a collective of this axis carries, all calls of the operator; 0 for anything else.
double payload(const Op& op, Axis axis);

} // namespace clustersim::test
