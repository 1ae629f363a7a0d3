// Parameter counts and FLOPs done by hand, as in docs/explanation/parameters.md and flops.md.

#include "plan/lower.hpp"
#include "spec/catalogue.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Transformer shipped_model(const char* name) {
  Diagnostics diagnostics;
  const auto model = load_transformer(test::shipped_catalogue(), name, diagnostics);
  REQUIRE_MESSAGE(model.has_value(), render(diagnostics, false));
  return *model;
}

} // namespace

TEST_CASE("Llama 3 70B, term by term") {
  const std::int64_t h = 8192, f = 28672, v = 128256, layers = 80, kv = 8 * 128;
  const std::int64_t attention = h * h + 2 * h * kv + h * h; // q, k and v, output
  const std::int64_t mlp = 3 * h * f;                        // gate, up, down
  const std::int64_t norms = 2 * h;
  const ParameterCount count = count_parameters(shipped_model("llama-3-70b"));
  CHECK(count.per_layer == attention + mlp + norms);
  CHECK(count.embedding == v * h);
  CHECK(count.head == v * h + h); // untied head and final norm
  CHECK(count.total == layers * (attention + mlp + norms) + 2 * v * h + h);
  CHECK(count.total == 70'553'706'496); // the checkpoint
}

TEST_CASE("GPT-2 small, with tied embeddings and biases everywhere") {
  const std::int64_t h = 768, v = 50257, s = 1024, layers = 12;
  const std::int64_t attention = (h * 3 * h + 3 * h) + (h * h + h);
  const std::int64_t mlp = (h * 4 * h + 4 * h) + (4 * h * h + h);
  const std::int64_t norms = 2 * 2 * h;
  const ParameterCount count = count_parameters(shipped_model("gpt2"));
  CHECK(count.total == (v + s) * h + layers * (attention + mlp + norms) + 2 * h);
  CHECK(count.total == 124'439'808);
}

TEST_CASE("DeepSeek-V3: latent attention, three dense layers, 256 experts of which 8 and 1 work") {
  const std::int64_t h = 7168, v = 129280, heads = 128, nope = 128, rope = 64, value = 128;
  const std::int64_t query_rank = 1536, latent = 512, layers = 61, dense = 3, experts = 256;
  const std::int64_t attention = h * query_rank + query_rank +        // down, norm
                                 query_rank * heads * (nope + rope) + // up to the heads
                                 h * (latent + rope) + latent +       // down, norm
                                 latent * heads * (nope + value) +    // up to keys and values
                                 heads * value * h;                   // output
  const std::int64_t norms = 2 * h, expert = 3 * h * 2048;
  const std::int64_t moe = h * experts + experts * expert + expert; // router, routed, shared
  const std::int64_t dense_layer = attention + norms + 3 * h * 18432;
  const std::int64_t moe_layer = attention + norms + moe;
  const std::int64_t total = 2 * v * h + h + dense * dense_layer + (layers - dense) * moe_layer;

  Transformer model = shipped_model("deepseek-v3");
  const ParameterCount count = count_parameters(model);
  CHECK(count.per_layer == dense_layer);
  CHECK(count.moe_layer == moe_layer);
  CHECK(count.total == total);
  CHECK(count.active == total - (layers - dense) * (experts - 8) * expert);
  CHECK(count.active / 1'000'000'000 == 37); // "37B activated", arXiv 2412.19437

  // With its multi-token prediction module: one more layer, a projection of 2h to h, three norms.
  model.mtp_layers = 1;
  CHECK(count_parameters(model).total == total + moe_layer + 2 * h * h + 3 * h);
}

TEST_CASE("T5: two stacks, cross-attention, a table of position biases in each") {
  const std::int64_t h = 768, f = 3072, v = 32128, heads = 12, layers = 12, buckets = 32;
  const std::int64_t attention = 4 * h * h, mlp = 2 * h * f;
  const std::int64_t encoder = attention + mlp + 2 * h;
  const std::int64_t decoder = 2 * attention + mlp + 3 * h;
  const ParameterCount count = count_parameters(shipped_model("t5-base"));
  CHECK(count.decoder_layer == decoder);
  CHECK(count.total == v * h + 2 * buckets * heads + layers * (encoder + decoder) + 2 * h);
  CHECK(count.active == count.total);
}

TEST_CASE("every so many layers one has experts; a dense model is all active") {
  Transformer model = shipped_model("mixtral-8x7b");
  const std::int64_t expert = 3 * model.hidden * model.ffn_hidden;
  const ParameterCount every = count_parameters(model);
  CHECK(every.active == every.total - 32 * (8 - 2) * expert);
  model.moe.interval = 2;
  CHECK(expert_layers(model) == 16);
  const std::int64_t router = model.hidden * 8;
  CHECK(count_parameters(model).total == every.total - 16 * (router + 7 * expert));
  const ParameterCount dense = count_parameters(shipped_model("llama-3-70b"));
  CHECK(dense.active == dense.total);
}

TEST_CASE("FLOPs of one step of the main job, GEMM by GEMM") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  const double h = 8192, f = 28672, v = 128256, layers = 80, kv = 8 * 128, s = 8192;
  // Multiply and add count separately; a causal score matrix is half full.
  const double matrices = 2 * (h * h + 2 * h * kv + h * h + 3 * h * f);
  const double attention = 2 * 2 * s * h / 2;
  const double per_token = layers * (matrices + attention) + 2 * h * v;
  const double tokens = 512.0 * s;
  CHECK(model_flops(scenario).si() == close_to(3 * per_token * tokens, 1e-12));
}
