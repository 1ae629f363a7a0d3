// FLOP conventions against closed forms and hand arithmetic (docs/explanation/flops.md).

#include "examples.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Scenario gpt3_step() {
  Scenario scenario = test::example(test::gpt3(), 2048);
  scenario.training.global_batch = 1536;
  return scenario;
}

constexpr double B = 1536, s = 2048, l = 96, h = 12288, V = 51200;

} // namespace

TEST_CASE("Megatron's closed forms for GPT-3 175B (Narayanan et al. 2021, eq. 3)") {
  const Scenario scenario = gpt3_step();
  CHECK(model_flops(scenario, FlopConvention::megatron_model).si() ==
        close_to(72 * B * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h)), 1e-12));
  CHECK(model_flops(scenario, FlopConvention::megatron_hardware).si() ==
        close_to(96 * B * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h)), 1e-12));
}

TEST_CASE("exact differs from Megatron's model FLOPs by the masked half of attention") {
  const Scenario scenario = gpt3_step();
  const double masked_half = 3 * B * s * l * 4 * s * h / 2;
  CHECK(model_flops(scenario, FlopConvention::megatron_model).si() -
            model_flops(scenario, FlopConvention::exact).si() ==
        close_to(masked_half, 1e-9));

  Scenario encoder = scenario;
  encoder.model.causal = false;
  CHECK(model_flops(encoder, FlopConvention::megatron_model) == model_flops(encoder));
}

TEST_CASE("6N and PaLM's appendix B") {
  const Scenario scenario = gpt3_step();
  const double parameters = static_cast<double>(count_parameters(scenario.model).total);
  const double tokens = B * s;
  CHECK(model_flops(scenario, FlopConvention::six_n).si() ==
        close_to(6 * parameters * tokens, 1e-12));
  CHECK(model_flops(scenario, FlopConvention::palm).si() ==
        close_to((6 * parameters + 12 * l * h * s) * tokens, 1e-12));
}

TEST_CASE("Llama 3 70B: grouped K and V, gated MLP, 8k tokens") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  const double width = 8192, kv = 8 * 128, ffn = 28672, words = 128256, sequence = 8192;
  const double weights = width * width + 2 * width * kv + width * width + 3 * width * ffn;
  const double per_token = 80 * (2 * weights + 4 * sequence * width / 2) + 2 * width * words;
  CHECK(model_flops(scenario).si() == close_to(3 * per_token * sequence, 1e-12));
}

TEST_CASE("an encoder without a vocabulary head has no head FLOPs") {
  Scenario scenario = test::example(test::small_gpt(2, 4), 128);
  scenario.model.architecture = Architecture::encoder;
  scenario.model.causal = false;
  const Flops bare = model_flops(scenario);
  scenario.model.mlm_head = true;
  const double hidden = 256, tokens = 128;
  CHECK((model_flops(scenario) - bare).si() ==
        close_to(3 * tokens * (2 * hidden * 8192 + 2 * hidden * hidden), 1e-9));
}
