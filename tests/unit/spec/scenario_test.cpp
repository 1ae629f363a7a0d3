// A good scenario: what is read, what is derived, where each value says it came from.

#include "small_catalogue.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using namespace clustersim::test;

TEST_CASE("a scenario is read whole, with everything that it names") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario());
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  CHECK(outcome.diagnostics.empty());
  const Scenario& s = *outcome.scenario;
  CHECK(s.title == "Small");
  CHECK(s.path == "scenario.toml");
  CHECK(s.cluster.chips() == 2 * 2);
  CHECK(s.chip().name == "Tiny 1");
  CHECK(s.chip().matrix[Precision::bf16]->si() == 100e12);
  CHECK(s.chip().kernels.id == "plain");
  CHECK(s.cluster.partitions[0].node.host.pcie.name == "Wire");
  CHECK(s.cluster.partitions[0].fabric.link.bandwidth.si() == 25e9);
  CHECK(s.training.stack.recipe.kernels.at(0).name == "norm");
  CHECK(s.micro_batches() == 8 / (2 * 1));
}

TEST_CASE("defaults are echoed with their reason, given values with their place") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario(), {"mbs=2"});
  REQUIRE(outcome.scenario);
  const auto& inputs = outcome.scenario->inputs;
  const ResolvedValue& tensor = value_of(inputs, "plan.tensor");
  CHECK(tensor.origin == Origin::file);
  CHECK(tensor.where == "scenario.toml:18");
  CHECK(tensor.number == 2);
  const ResolvedValue& micro_batch = value_of(inputs, "plan.micro_batch");
  CHECK(micro_batch.origin == Origin::command_line);
  CHECK(micro_batch.where == "--set");
  const ResolvedValue& recompute = value_of(inputs, "plan.recompute");
  CHECK(recompute.origin == Origin::default_value);
  CHECK(recompute.where == "fastest, if it fits");
  const ResolvedValue& bandwidth = value_of(inputs, "chip.tiny.memory.bandwidth");
  CHECK(bandwidth.origin == Origin::catalogue);
  CHECK(bandwidth.text == "1 TB/s");
  CHECK(bandwidth.unit == "B/s");
  CHECK(bandwidth.number == 1e12);
  CHECK(bandwidth.source == "made up for tests");
  CHECK(bandwidth.where == "models/chips/tiny.toml:21");
  const ResolvedValue& price = value_of(inputs, "chip.tiny.price.launch");
  CHECK(price.date == "2024-01");
  CHECK(price.note == "list");
  CHECK(std::is_sorted(inputs.begin(), inputs.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; }));
}

TEST_CASE("what is not given is derived") {
  const SmallCatalogue files;
  std::string text = replaced(small_scenario(), "data = 2\n", "");
  text = replaced(text, "sequence = 128\n", "");
  const Outcome outcome = parse(files, text);
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  const Scenario& s = *outcome.scenario;
  CHECK(s.plan.data == 2 * 2 / 2); // chips / tensor
  CHECK(value_of(s.inputs, "plan.data").origin == Origin::inferred);
  CHECK(s.training.sequence == 128);                   // the model's
  CHECK(s.training.gradient_dtype == Precision::fp32); // the stack's
  CHECK(s.model.kv_heads == s.model.heads);
  CHECK(s.model.head_dim == 64 / 4);
  CHECK(s.model.ffn_hidden == 4 * 64);
  CHECK(s.chip().memory.usable.si() == close_to(16 * 1073741824.0 * 0.9956));
  CHECK(s.chip().power.idle.si() == close_to(300.0 * 90 / 700));
  CHECK(s.chip().kernels.memory.classes[static_cast<std::size_t>(KernelClass::norm)] == 0.5);
  CHECK(s.chip().kernels.memory.classes[static_cast<std::size_t>(KernelClass::cast)] == 0.8);
}

TEST_CASE("inline ECC takes a sixteenth, other chips than GPUs have no driver share") {
  const SmallCatalogue files;
  files.replace("models/chips/tiny.toml", "type = \"HBM\"", "type = \"GDDR6\"\necc_inline = true");
  Diagnostics out;
  CHECK(load_chip(files.catalogue(), "tiny", out)->memory.usable.si() ==
        close_to(16 * 1073741824.0 * 0.9956 * 15 / 16));
  files.replace("models/chips/tiny.toml", "ecc_inline = true", "");
  files.replace("models/chips/tiny.toml", "kind = \"gpu\"", "kind = \"tpu\"");
  CHECK(load_chip(files.catalogue(), "tiny", out)->memory.usable.si() == 16 * 1073741824.0);
}

TEST_CASE("sequence lengths take a binary suffix, counts do not") {
  const SmallCatalogue files;
  files.replace("models/transformers/toy-model.toml", "max_positions = 128",
                "max_positions = 9000");
  const Outcome good = parse(files, replaced(small_scenario(), "= 128", "= \"8k\""));
  REQUIRE(good.scenario);
  CHECK(good.scenario->training.sequence == 8 * 1024);
  CHECK(parse(files, small_scenario(), {"seq=8k"}).scenario->training.sequence == 8 * 1024);
  const Outcome bad = parse(files, replaced(small_scenario(), "batch = 8", "batch = \"8k\""));
  CHECK(bad.text().find("only sequence lengths take k and M") != std::string::npos);
}

TEST_CASE("a vocabulary that does not divide is padded as Megatron does, and said so") {
  const SmallCatalogue files;
  files.replace("models/transformers/toy-model.toml", "vocabulary = 1000", "vocabulary = 1001");
  const Outcome outcome = parse(files, small_scenario());
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->model.vocabulary == 1024); // next multiple of 128 x 2
  REQUIRE(outcome.scenario->assumptions.size() == 1);
  CHECK(outcome.scenario->assumptions[0] ==
        "the vocabulary is padded from 1001 to 1024 rows, a multiple of 128 x tensor");
  CHECK(parse(files, small_scenario(), {"tp=1", "dp=4"}).scenario->model.vocabulary == 1001);
}

TEST_CASE("a tensor group larger than a node is a warning, not an error") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario(), {"tp=4", "dp=1"});
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->warnings.size() == 1);
  CHECK(outcome.diagnostics.exit_code() == ExitCode::done);
  CHECK(outcome.text().find("warning: tensor 4 is larger than a node of 2 chips") !=
        std::string::npos);
}
