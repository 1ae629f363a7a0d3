// --set, [override], [define] and inline models.

#include "small_catalogue.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::test;

namespace {

bool says(const Outcome& outcome, const std::string& text) {
  INFO(outcome.text());
  return outcome.text().find(text) != std::string::npos;
}

} // namespace

TEST_CASE("--set takes full keys, short names, and names that one table has") {
  const SmallCatalogue files;
  for (const char* setting : {"plan.micro_batch=2", "mbs=2", "micro_batch=2", "plan.mbs = 2"}) {
    CAPTURE(setting);
    const Outcome outcome = parse(files, small_scenario(), {setting});
    REQUIRE(outcome.scenario);
    CHECK(outcome.scenario->plan.micro_batch == 2);
  }
  CHECK(parse(files, small_scenario(), {"mbs=4", "mbs=1"}).scenario->plan.micro_batch == 1);
  CHECK(parse(files, small_scenario(), {"recompute=full"}).scenario->plan.recompute ==
        Recompute::full);
  CHECK(parse(files, small_scenario(), {"title=two words"}).scenario->title == "two words");
  CHECK(parse(files, small_scenario(), {"cap=250W"}).scenario->power.cap->si() == 250);
}

TEST_CASE("a setting replaces the file's short name too") {
  const SmallCatalogue files;
  const std::string text = replaced(small_scenario(), "tensor = 2\ndata", "tp = 2\ndp");
  CHECK(parse(files, text).scenario->plan.tensor == 2);
  CHECK(parse(files, text, {"tp=4", "dp=1"}).scenario->plan.tensor == 4);
  CHECK(says(parse(files, replaced(text, "tp = 2", "tp = 2\ntensor = 2")), "is given twice"));
}

TEST_CASE("mistakes in settings are located in them") {
  const SmallCatalogue files;
  const Outcome unknown = parse(files, small_scenario(), {"plan.tensr=4"});
  CHECK(unknown.text() == "--set:1:1: error: unknown key 'tensr' in [plan]\n"
                          "  plan.tensr=4\n"
                          "  ^~~~~~~~~~\n"
                          "  did you mean \"tensor\"?\n");
  const Outcome wrong = parse(files, small_scenario(), {"power.cap = 300"});
  CHECK(says(wrong, "--set:1:13: error: "));
  CHECK(says(wrong, "expected a power"));
  CHECK(says(parse(files, small_scenario(), {"tp"}), "expected key=value"));
  CHECK(says(parse(files, small_scenario(), {"tp="}), "no value"));
  CHECK(says(parse(files, small_scenario(), {"=4"}), "not a setting"));
  CHECK(says(parse(files, small_scenario(), {"a b=4"}), "not a key"));
  CHECK(says(parse(files, small_scenario(), {"plan=4"}), "'plan' is a table"));
  CHECK(says(parse(files, small_scenario(), {std::string("tp=\0", 4)}), "NUL"));
  CHECK(says(parse(files, small_scenario(), {"x=" + std::string(70000, '1')}), "longer than"));
}

TEST_CASE("a setting cannot smuggle in other keys") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario(), {"title=1\n[plan]\ntensor=4"});
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->plan.tensor == 2);
  CHECK(outcome.scenario->title == "1\n[plan]\ntensor=4");
}

TEST_CASE("changing tensor against the file's data says which data fits") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario(), {"tp=1"});
  CHECK(says(outcome, "tensor 1 x data 2 makes 2 chips, but the cluster has 4"));
  CHECK(says(outcome, "set data = 4, or leave it out"));
}

TEST_CASE("another model replaces the file's, its inline keys too") {
  const SmallCatalogue files;
  files.write(
      "models/transformers/other.toml",
      replaced(replaced(files.read("models/transformers/toy-model.toml"), "toy-model", "other"),
               "layers = 2", "layers = 3"));
  const std::string text =
      replaced(small_scenario(), "use = \"toy-model\"", "use = \"toy-model\"\nlayers = 7");
  CHECK(parse(files, text).scenario->model.layers == 7);
  CHECK(parse(files, text, {"model=other"}).scenario->model.layers == 3);
  CHECK(parse(files, text, {"model=other", "model.layers=5"}).scenario->model.layers == 5);
}

TEST_CASE("a model may be written inline") {
  const SmallCatalogue files;
  const Outcome outcome = parse(
      files,
      replaced(small_scenario(), "use = \"toy-model\"",
               "layers = 4\nhidden = 128\nheads = 8\nvocabulary = 512\nposition = \"rotary\""));
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->model.layers == 4);
  CHECK(value_of(outcome.scenario->inputs, "transformer.inline.model.hidden").where ==
        "scenario.toml:11");
  const Outcome bad =
      parse(files, replaced(small_scenario(), "use = \"toy-model\"", "layers = 4\nhiden = 128"));
  CHECK(says(bad, "scenario.toml:11:1: error: unknown key 'hiden' in [model]"));
  CHECK(says(bad, "did you mean \"hidden\"?"));
  CHECK(says(parse(files, replaced(small_scenario(), "use = \"toy-model\"", "")),
             "no model is chosen"));
}

TEST_CASE("overrides reach the object by any of its names, key by key") {
  const SmallCatalogue files;
  const std::string text = small_scenario() +
                           "[override.chip.\"Tiny One\"]\nmemory.bandwidth = \"2 TB/s\"\n"
                           "calibration.gemm.sustained.bf16 = 0.9\n"
                           "[override.link.wire]\nlink.latency = \"7 us\"\n";
  const Outcome outcome = parse(files, text, {"override.stack.frame.host.per_operator=99 us"});
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->chip().memory.bandwidth.si() == 2e12);
  CHECK(*outcome.scenario->chip().kernels.gemm.sustained[Precision::bf16] == 0.9);
  CHECK(outcome.scenario->cluster.partitions[0].fabric.link.latency.si() == 7e-6);
  CHECK(outcome.scenario->training.stack.host.per_operator.si() == 99e-6);
  const ResolvedValue& bandwidth = value_of(outcome.scenario->inputs, "chip.tiny.memory.bandwidth");
  CHECK(bandwidth.origin == Origin::file);
  CHECK(bandwidth.where == "scenario.toml:21");
}

TEST_CASE("mistakes in overrides are located in the scenario") {
  const SmallCatalogue files;
  CHECK(
      says(parse(files, small_scenario() + "[override.chip.tiny]\nmemory.bandwith = \"2 TB/s\"\n"),
           "scenario.toml:21:8: error: unknown key 'bandwith' in [memory]"));
  CHECK(says(parse(files, small_scenario() + "[override.chip.tony]\npower.tdp = \"1 W\"\n"),
             "scenario.toml:20:16: error: unknown chip 'tony'"));
  CHECK(says(parse(files, small_scenario() + "[override.chips.tiny]\npower.tdp = \"1 W\"\n"),
             "'chips' is not a kind"));
  files.write("models/chips/other.toml",
              replaced(replaced(files.read("models/chips/tiny.toml"), "\"tiny\"", "\"other\""),
                       "\"Tiny One\", \"small\"", ""));
  const Outcome unused =
      parse(files, small_scenario() + "[override.chip.other]\npower.tdp = \"1 W\"\n");
  CHECK(unused.scenario);
  CHECK(says(unused, "changes nothing: this scenario does not use it"));
}

TEST_CASE("a file of any kind may be written in the scenario") {
  const SmallCatalogue files;
  const std::string text =
      replaced(small_scenario(), "fabric = \"switch\"", "fabric = \"my-fabric\"") +
      "[define.fabric.my-fabric.fabric]\nshape = \"fat-tree\"\nlink = \"wire\"\n";
  const Outcome outcome = parse(files, text);
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  CHECK(outcome.scenario->cluster.partitions[0].fabric.shape == "fat-tree");
}

TEST_CASE("the chip's calibration can be replaced by name or by a file beside the scenario") {
  const SmallCatalogue files;
  const std::string plain = files.read("models/calibrations/plain.toml");
  files.write("models/calibrations/fast.toml",
              replaced(replaced(plain, "\"plain\"", "\"fast\""), "bf16 = 0.5", "bf16 = 0.7"));
  files.write("mine.toml", replaced(plain, "bf16 = 0.5", "bf16 = 0.6"));
  const auto sustained = [&](const std::string& name) {
    Diagnostics out;
    const auto scenario =
        parse_scenario(small_scenario() + "[calibration]\nuse = \"" + name + "\"\n",
                       files.root() + "/s.toml", files.catalogue(), {}, out);
    REQUIRE_MESSAGE(scenario, render(out, false));
    return *scenario->chip().kernels.gemm.sustained[Precision::bf16];
  };
  CHECK(sustained("fast") == 0.7);
  CHECK(sustained("mine.toml") == 0.6);
}

TEST_CASE("a cap above the board's limit is said to be, and the limit holds") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, small_scenario(), {"power.cap=10 kW"});
  REQUIRE(outcome.scenario);
  CHECK(says(outcome, "--set:1:11: warning: the cap of 10 kW is above the board's limit"));
  CHECK(*outcome.scenario->power.cap == outcome.scenario->chip().power.tdp);
  CHECK(outcome.scenario->warnings.size() == 1);
}

TEST_CASE("a clock overridden alone takes its peaks with it") {
  const SmallCatalogue files;
  const std::string clock = "override.chip.tiny.compute.boost_clock=0.5 GHz";
  const Outcome alone = parse(files, small_scenario(), {clock});
  REQUIRE(alone.scenario);
  const Outcome stock = parse(files, small_scenario(), {});
  REQUIRE(stock.scenario);
  const Chip& fast = stock.scenario->chip();
  const Chip& slow = alone.scenario->chip();
  CHECK(slow.matrix[Precision::bf16]->si() == close_to(0.5 * fast.matrix[Precision::bf16]->si()));
  CHECK(slow.vector[Precision::fp32]->si() == close_to(0.5 * fast.vector[Precision::fp32]->si()));
  CHECK(slow.l2.bandwidth.si() == close_to(0.5 * fast.l2.bandwidth.si()));
  CHECK(slow.memory.bandwidth == fast.memory.bandwidth);
  CHECK(alone.scenario->warnings.empty());
  CHECK(alone.scenario->assumptions.size() == stock.scenario->assumptions.size() + 1);
  const Outcome both =
      parse(files, small_scenario(), {clock, "override.chip.tiny.compute.matrix.bf16=100 TFLOP/s"});
  REQUIRE(both.scenario);
  CHECK(both.scenario->warnings.empty());
  CHECK(both.scenario->chip().matrix[Precision::bf16]->si() == 100e12);
}
