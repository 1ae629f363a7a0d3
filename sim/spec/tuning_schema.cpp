// [finetune] and [plan.offload] of a scenario.

#include "spec/schemas.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace clustersim {
namespace {

using S = ScenarioInput;

constexpr std::array<std::pair<std::string_view, Matrix>, 8> matrices{{{"q", Matrix::query},
                                                                       {"k", Matrix::key},
                                                                       {"v", Matrix::value},
                                                                       {"o", Matrix::output},
                                                                       {"gate", Matrix::gate},
                                                                       {"up", Matrix::up},
                                                                       {"down", Matrix::down},
                                                                       {"latent", Matrix::latent}}};

} // namespace

std::optional<Matrix> matrix_from(std::string_view name) {
  for (const auto& [word, matrix] : matrices) {
    if (word == name) return matrix;
  }
  return std::nullopt;
}

void add_tuning(Schema<S>& s) {
  using T = FineTuning;
  const auto in = [](auto member) {
    return [member](auto& input) -> auto& {
      return input.scenario.training.tuning.*member;
    };
  };
  add(s, "finetune.rank", in(&T::rank),
      "of low-rank adapters (LoRA) beside frozen weights; 0 = the weights themselves are trained")
      .between(0, 100000)
      .because("weights are trained");
  add(s, "finetune.targets", at(&S::adapted),
      "matrices with an adapter: q, k, v, o, gate, up, down, latent; or attention, mlp, all")
      .derived("q and v with adapters, as in the LoRA paper");
  add(s, "finetune.frozen_layers", in(&T::frozen_layers), "the first layers, which are not trained")
      .between(0, 100000)
      .because("all layers are trained");
  add(s, "finetune.frozen_ends", in(&T::frozen_ends),
      "embedding, head and what stands outside the layers are not trained")
      .because("trained like the layers");
  add_choice(s, "finetune.base", in(&T::base),
             Choices<std::optional<Precision>>{
                 {"nf4", Precision::int4}, {"int8", Precision::int8}, {"fp8", Precision::fp8}},
             "storage of the layers' frozen matrices, opened up before each use (QLoRA)");
  add(s, "finetune.base_block", in(&T::base_block), "its values that share a scale")
      .between(1, 1e9)
      .because("64 in QLoRA (arXiv 2305.14314, section 3)");
  add(s, "finetune.double_quantisation", in(&T::double_quantised),
      "those scales in 8 bits, and an FP32 constant for 256 of them")
      .because("scales in FP32");
}

void add_offload(Schema<S>& s) {
  const auto tier = [&](std::string key, auto member, std::string help) {
    add_choice(
        s, std::move(key),
        [member](auto& input) -> auto& { return input.scenario.plan.offload.*member; },
        tier_words(), std::move(help))
        .because("kept on the chip");
  };
  tier("plan.offload.optimizer", &Offload::optimizer,
       "where optimizer states live and, unless none, the host's cores update weights");
  tier("plan.offload.parameters", &Offload::parameters,
       "where the weights of layers live between their uses; needs zero = 3 or one rank");
  tier("plan.offload.activations", &Offload::activations,
       "where activations wait for the backward pass");
}

} // namespace clustersim
