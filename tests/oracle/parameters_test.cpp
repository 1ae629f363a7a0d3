// Parameter counts and FLOPs done by hand, as in docs/explanation/parameters.md and flops.md.

#include "plan/lower.hpp"
#include "spec/catalogue.hpp"

#include "support/scenarios.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

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

TEST_CASE("FLOPs of one step of the main job, GEMM by GEMM") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  const double h = 8192, f = 28672, v = 128256, layers = 80, kv = 8 * 128, s = 8192;
  // Multiply and add count separately; a causal score matrix is half full.
  const double matrices = 2 * (h * h + 2 * h * kv + h * h + 3 * h * f);
  const double attention = 2 * 2 * s * h / 2;
  const double per_token = layers * (matrices + attention) + 2 * h * v;
  const double tokens = 512.0 * s;
  CHECK(model_flops(scenario).si() == doctest::Approx(3 * per_token * tokens).epsilon(1e-12));
}
