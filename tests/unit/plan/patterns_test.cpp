// Layers that are not all alike: windows by pattern and by list, norms beyond two, an encoder with
// its decoder, prediction modules, tables narrower than the model.

#include "examples.hpp"

#include "plan/activations.hpp"
#include "plan/memory.hpp"
#include "plan/shard.hpp"
#include "plan/stage.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using namespace clustersim::test;

namespace {

double attention_flops(const Scenario& scenario) {
  return test::sum_over_step(lower(scenario), [](const Op& op) {
    return std::holds_alternative<AttentionShape>(op.work) ? op.model_flops.si() : 0.0;
  });
}

Scenario t5(std::int64_t sequence, std::int64_t decoder_sequence) {
  Scenario scenario = test::example(test::small_gpt(4, 4), sequence);
  Transformer& model = scenario.model;
  model.architecture = Architecture::encoder_decoder;
  model.decoder_layers = 3;
  model.position = PositionKind::relative;
  model.relative_buckets = 32;
  model.max_positions = 0;
  model.norm = NormKind::rms_norm;
  model.attention_bias = model.projection_bias = model.mlp_bias = false;
  scenario.training.decoder_sequence = decoder_sequence;
  return scenario;
}

Scenario deepseek_like(std::int64_t layers) {
  Scenario scenario = test::example(test::small_gpt(layers, 4), 256);
  scenario.model.mtp_layers = 2;
  MixtureOfExperts& moe = scenario.model.moe;
  moe.experts = 4;
  moe.top_k = 2;
  moe.ffn_hidden = 96;
  moe.dense_first = 1;
  scenario.model.tied_embeddings = false;
  return scenario;
}

} // namespace

TEST_CASE("a window's share of the square is the mean over queries, when tokens are many") {
  const std::int64_t s = 20000;
  for (const std::int64_t window : {1000, 7000, 20000, 50000}) {
    double pairs = 0.0;
    for (std::int64_t i = 1; i <= s; ++i)
      pairs += static_cast<double>(std::min(i, window));
    const double side = static_cast<double>(s);
    CHECK(seen_share(side, window, true) == close_to(pairs / (side * side), 1e-3));
  }
  CHECK(seen_share(4096, 0, true) == 0.5);
  CHECK(seen_share(4096, 0, false) == 1.0);
  CHECK(seen_share(4096, 1024, false) == 0.25);
}

TEST_CASE("five layers of six see a window: Gemma 3") {
  Scenario scenario = test::example(test::small_gpt(13, 4), 8192);
  const double full = attention_flops(scenario);
  scenario.model.window = 1024;
  scenario.model.full_every = 6;
  // Of 13 layers the 6th and the 12th are full; W/s = 1/8: (1/8 - 1/128) of a square, not 1/2.
  const double share = (1.0 / 8 - 1.0 / 128) / 0.5;
  CHECK(attention_flops(scenario) == close_to(full * (2 + 11 * share) / 13));
  scenario.model.full_every = 0;
  scenario.model.full_layers = {5, 11};
  CHECK(attention_flops(scenario) == close_to(full * (2 + 11 * share) / 13));
  scenario.training.sequence = 1024; // the window hides nothing
  CHECK(layers_of(stages_of(scenario).front().front(), LayerKind::dense) == 13);
}

TEST_CASE("windows: model FLOPs of the program are those of the formula, whatever the plan") {
  for (const char* attention : {"fused", "unfused"}) {
    for (const int tensor : {1, 4}) {
      for (const ContextExchange exchange :
           {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::ulysses}) {
        Scenario scenario = test::example(test::llama3_70b(), 8192, attention);
        scenario.model.window = 1000;
        scenario.model.full_layers = {0, 3, 79};
        scenario.plan.context = 2;
        scenario.plan.context_exchange = exchange;
        test::spread(scenario, tensor, 1, 2);
        CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
      }
    }
  }
}

TEST_CASE("a ring's stops share what the window leaves beyond the own block") {
  Scenario scenario = test::example(test::small_gpt(2, 4), 8192);
  scenario.model.window = 1024;
  scenario.plan.context = 4;
  test::spread(scenario, 1, 1, 1);
  double pairs = 0.0;
  test::for_each_op(lower(scenario), [&](const Op& op, std::int64_t calls) {
    const auto* shape = std::get_if<AttentionShape>(&op.work);
    if (shape == nullptr || shape->backward) return;
    const double share = shape->window > 0 ? seen_share(2048, shape->window, true) : 1.0;
    pairs += static_cast<double>(calls) * share * static_cast<double>(shape->queries * shape->keys);
  });
  CHECK(pairs == close_to(2 * 2048 * 8192 * seen_share(8192, 1024, true), 0.01));
}

TEST_CASE("dense layers by list, beside the interval") {
  Scenario scenario = test::example(test::small_gpt(8, 4), 256);
  MixtureOfExperts& moe = scenario.model.moe;
  moe.experts = 4;
  moe.top_k = 1;
  moe.ffn_hidden = 64;
  moe.interval = 2;
  moe.dense_layers = {3, 4};
  CHECK(expert_layers(scenario.model) == 3); // 1, 5 and 7
  const Chunk chunk = stages_of(scenario).front().front();
  CHECK(layers_of(chunk, LayerKind::experts) == 3);
  CHECK(layers_of(chunk, LayerKind::dense) == 5);
  CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
}

TEST_CASE("one rank holds every parameter of every kind of model") {
  std::vector<Scenario> all{t5(256, 64), deepseek_like(5)};
  Scenario narrow = test::example(test::small_gpt(3, 4), 256); // OPT-350M
  narrow.model.embedding_width = 128;
  all.push_back(narrow);
  Scenario bare = test::example(test::small_gpt(3, 4), 256); // OLMo: norms without weights
  bare.model.norm_weight = false;
  all.push_back(bare);
  Scenario norms = test::example(test::small_gpt(3, 4), 256); // Gemma 2
  norms.model.layer_norms = 4;
  all.push_back(norms);
  Scenario reward = test::example(test::small_gpt(3, 4), 256);
  reward.model.vocabulary_head = false;
  reward.model.sequence_classes = 1;
  reward.model.class_bias = false;
  all.push_back(reward);
  for (const Scenario& scenario : all) {
    CHECK(local_parameters(scenario).total ==
          close_to(static_cast<double>(count_parameters(scenario.model).total), 1e-12));
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
  }
}

TEST_CASE("an encoder with its decoder: FLOPs by hand") {
  const double s = 512, t = 128, h = 256, f = 4 * h, vocabulary = 1000;
  Scenario scenario = t5(512, 128);
  scenario.model.vocabulary = 1000;
  const double mlp = 2 * h * f, self = 4 * h * h;
  const double encoder = 4 * (2 * s * (self + mlp) + 4 * s * s * h);
  const double decoder = 3 * (2 * t * (self + mlp + 2 * h * h) + // with q and output of the second
                              2 * s * 2 * h * h +                // its keys and values
                              4 * t * t * h / 2 + 4 * t * s * h);
  const double head = 2 * t * h * vocabulary;
  CHECK(model_flops(scenario).si() == close_to(3 * (encoder + decoder + head), 1e-12));
  for (const int tensor : {1, 2, 4}) {
    scenario.plan.sequence_parallel = tensor > 2;
    test::spread(scenario, tensor, 2, 3);
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
  }
}

TEST_CASE("an encoder sees both sides, its decoder what came before") {
  Scenario scenario = t5(512, 128);
  scenario.model.position = PositionKind::rotary; // fused kernels add no biases
  const StepProgram program = lower(scenario);
  const auto shapes = [&](const char* block) {
    std::vector<AttentionShape> out;
    for (const Op& op : test::block_named(program, block).ops) {
      if (const auto* shape = std::get_if<AttentionShape>(&op.work)) out.push_back(*shape);
    }
    return out;
  };
  const auto encoder = shapes("layer forward"), decoder = shapes("decoder layer forward");
  REQUIRE(encoder.size() == 1);
  REQUIRE(decoder.size() == 2);
  CHECK_FALSE(encoder[0].causal);
  CHECK(decoder[0].causal);
  CHECK(decoder[0].queries == 128);
  CHECK_FALSE(decoder[1].causal);
  CHECK(decoder[1].queries == 128);
  CHECK(decoder[1].keys == 512);
}

TEST_CASE("relative biases: read with the scores, their gradient summed over sequences") {
  Scenario scenario = t5(256, 256);
  scenario.plan.micro_batch = 3;
  scenario.training.global_batch = 3;
  const StepProgram program = lower(scenario);
  const double pairs = 4.0 * 256 * 256; // heads x queries x keys
  const auto traffic = [&](const char* block, const char* name) {
    double bytes = 0.0;
    for (const Op& op : test::block_named(program, block).ops) {
      if (op.name == name) bytes += std::get<MemoryKernel>(op.work).traffic.si();
    }
    return bytes;
  };
  CHECK(traffic("layer forward", "position biases") == close_to(2 * (2 * 3 + 1) * pairs));
  CHECK(traffic("layer backward", "position biases, gradient") == close_to(2 * (3 + 1) * pairs));
  CHECK(traffic("decoder layer forward", "position biases") == close_to(2 * (2 * 3 + 1) * pairs));
}

TEST_CASE("a pipeline of encoder and decoder: every parameter once, the table where it is used") {
  Scenario scenario = t5(256, 64);
  scenario.model.tied_embeddings = true;
  const double whole = local_parameters(scenario).total;
  scenario.plan.pipeline = 4;
  test::spread(scenario, 1, 1, 8);
  double sum = 0.0;
  std::int64_t decoders = 0, entries = 0;
  for (const Stage& stage : stages_of(scenario)) {
    sum += parameters_of(scenario, stage).total();
    decoders += layers_of(stage.front(), LayerKind::cross);
    entries += stage.front().decoder_entry ? 1 : 0;
  }
  const double table = static_cast<double>(scenario.model.vocabulary * scenario.model.hidden);
  CHECK(decoders == 3);
  CHECK(entries == 1);
  CHECK(sum == close_to(whole + 2 * table)); // where the decoder begins, and at the head
}

TEST_CASE("within a decoder its own states and the encoder's travel together") {
  Scenario scenario = t5(256, 64);
  scenario.plan.pipeline = 7; // a layer each
  test::spread(scenario, 1, 1, 8);
  std::vector<double> sent;
  for (const Block& block : lower(scenario).blocks) {
    if (block.name == "send forward") {
      sent.push_back(test::payload(block.ops.at(0), Axis::pipeline));
    }
  }
  const double h = static_cast<double>(scenario.model.hidden);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == close_to(2 * 256 * h));
  CHECK(sent[1] == close_to(2 * (256 + 64) * h));
}

TEST_CASE("prediction modules: FLOPs by hand, parameters and gradients once") {
  Scenario scenario = deepseek_like(3);
  const double h = 256, tokens = 256, vocabulary = static_cast<double>(scenario.model.vocabulary);
  Scenario without = scenario;
  without.model.mtp_layers = 0;
  const double attention = 2 * 4 * h * h + 4 * 256 * h / 2;
  const double experts = 2 * (h * 4 + 2 * 2 * h * 96);
  const double each = 2 * 2 * h * h + attention + experts + 2 * h * vocabulary;
  CHECK((model_flops(scenario) - model_flops(without)).si() ==
        close_to(3 * tokens * 2 * each, 1e-9));
  for (const int tensor : {1, 2}) {
    scenario.plan.sequence_parallel = tensor > 1;
    scenario.plan.expert_tensor = tensor;
    test::spread(scenario, tensor, 2, 2);
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
    const double bytes = test::sum_over_step(
        lower(scenario), [](const Op& op) { return test::payload(op, Axis::data); });
    CHECK(bytes == close_to(4.0 * local_parameters(scenario).total, 1e-12));
  }
}

TEST_CASE("prediction modules fill the last stage and copy the table there") {
  Scenario scenario = deepseek_like(4);
  const double whole = local_parameters(scenario).total;
  scenario.plan.pipeline = 2;
  test::spread(scenario, 1, 1, 4);
  const auto stages = stages_of(scenario);
  const double first = parameters_of(scenario, stages.front()).total();
  const double last = parameters_of(scenario, stages.back()).total();
  const double table = static_cast<double>(scenario.model.vocabulary * scenario.model.hidden);
  CHECK(first + last == close_to(whole + table));
  Scenario without = scenario;
  without.model.mtp_layers = 0;
  const MemoryFootprint more = memory_footprint(scenario), less = memory_footprint(without);
  CHECK(more.stages[1].peak > less.stages[1].peak);
  CHECK(more.stages[0].peak.si() == close_to(less.stages[0].peak.si()));
}

TEST_CASE("norms behind attention and MLP are run, and keep their inputs") {
  Scenario two = test::example(test::small_gpt(2, 4), 256);
  Scenario four = two;
  four.model.layer_norms = 4;
  const auto norms = [](const Scenario& scenario) {
    const Block block = test::block_named(lower(scenario), "layer forward");
    return std::ranges::count_if(
        block.ops, [](const Op& op) { return std::holds_alternative<MemoryKernel>(op.work); });
  };
  const Shard shard = shard_of(two);
  CHECK(norms(four) == norms(two) + 2);
  CHECK((layer_activations(four, shard).norms - layer_activations(two, shard).norms).si() ==
        close_to(2 * 2 * local_hidden_elements(shard)));
}

TEST_CASE("a decoder layer keeps two attentions and the encoder's keys and values, by hand") {
  const double s = 256, t = 64, h = 256, heads = 4;
  const Scenario scenario = t5(256, 64);
  const LayerActivations kept = layer_activations(scenario, shard_of(scenario), LayerKind::cross);
  CHECK(kept.norms.si() == close_to(3 * t * h * (2 + 2)));
  CHECK(kept.attention.si() == close_to(2 * (3 * t * h + t * h +       // its own: q, k, v, output
                                             2 * t * h + 2 * s * h))); // q and output, k and v
  CHECK(kept.core.si() == close_to(2 * heads * (t * t + t * s)));
  CHECK(kept.mlp.si() == close_to(2 * (4 * t * h + 4 * t * h)));
  CHECK(kept_per_layer(scenario, shard_of(scenario), LayerKind::cross).si() ==
        close_to(kept.all().si()));
}
