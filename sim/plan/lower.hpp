#pragma once
// Transformer × plan → step program. Pure: no times, no graph.

#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

namespace clustersim {

[[nodiscard]] StepProgram lower(const Scenario& scenario);
/// The same step up to where the reduced gradients are waited for and the update begins.
[[nodiscard]] StepProgram before_update(StepProgram program);

/// What one micro-batch takes on one rank, with nothing that the data and pipeline axes add:
/// whatever these are, the stages together do no less. Each part is a class of its own, in the
/// order of the enumeration; backward is in two parts where the plan's schedule splits it. `layer`
/// is one layer forward and backward, `layer_forward` its first half; both are empty where layers
/// differ.
enum class MicroBatchPart { whole, layer, layer_forward, head };
[[nodiscard]] StepProgram lower_one_micro_batch(const Scenario& scenario);

/// FLOPs that the model needs, backward = 2 × forward, no recomputation. Conventions by name, since
/// published tables differ (docs/explanation/flops.md).
enum class FlopConvention { exact, six_n, palm, megatron_model, megatron_hardware };
[[nodiscard]] std::string_view name_of(FlopConvention convention);
/// Of one optimizer step over the whole cluster. `exact` counts every GEMM, attention halved when
/// causal.
[[nodiscard]] Flops model_flops(const Scenario& scenario,
                                FlopConvention convention = FlopConvention::exact);

} // namespace clustersim
