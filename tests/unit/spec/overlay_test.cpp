// Calibration files laid over the catalogue: precedence, origin, and what is said about them.

#include "small_catalogue.hpp"
#include "spec/overlay.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using namespace clustersim::test;

namespace {

constexpr const char* fit = R"(schema = 1
source = "rows"
[sources]
rows = "rows made up for tests"
[fit]
files = ["gemm.csv"]
rows = 12
[override.chip."Tiny One".calibration]
gemm.sustained.bf16 = 0.6
gemm.start = { value = "4 us", note = "was 3 us" }
attention.flash-2.forward = { 128 = 0.45 }
)";

Catalogue overlaid(const SmallCatalogue& files, const std::string& text) {
  files.write("fit.toml", text);
  Catalogue catalogue = files.catalogue();
  Diagnostics out;
  auto overlay = load_overlay(files.root() + "/fit.toml", catalogue, out);
  INFO(render(out, false));
  REQUIRE(overlay);
  catalogue.lay(std::move(*overlay));
  return catalogue;
}

Outcome parse_with(const Catalogue& catalogue, const std::string& text,
                   const std::vector<std::string>& settings = {}) {
  Outcome outcome;
  outcome.scenario =
      parse_scenario(text, "scenario.toml", catalogue, {settings}, outcome.diagnostics);
  return outcome;
}

double bf16_of(const Outcome& outcome) {
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  return outcome.scenario->chip().kernels.gemm.sustained[Precision::bf16].value();
}

} // namespace

TEST_CASE("an overlay replaces the keys that it names and no other") {
  const SmallCatalogue files;
  const Catalogue catalogue = overlaid(files, fit);
  Diagnostics out;
  const auto plain = load_chip(files.catalogue(), "tiny", out);
  const auto chip = load_chip(catalogue, "tiny", out);
  REQUIRE(plain);
  REQUIRE(chip);
  CHECK(*plain->kernels.gemm.sustained[Precision::bf16] == 0.5);
  CHECK(*chip->kernels.gemm.sustained[Precision::bf16] == 0.6);
  CHECK(chip->kernels.gemm.start.si() == 4e-6);
  CHECK(chip->kernels.launch.stream_gap == plain->kernels.launch.stream_gap);
  REQUIRE(chip->kernels.attention.size() == 1);
  const AttentionRate& before = plain->kernels.attention[0];
  const AttentionRate& after = chip->kernels.attention[0];
  CHECK(after.forward.at(128) == 0.45);
  CHECK(after.forward.at(64) == before.forward.at(64));
  CHECK(after.backward == before.backward);
}

TEST_CASE("catalogue, overlay, the scenario's own override, --set: the later wins") {
  const SmallCatalogue files;
  const Catalogue catalogue = overlaid(files, fit);
  const std::string own =
      small_scenario() + "[override.chip.tiny]\ncalibration.gemm.sustained.bf16 = 0.7\n";
  CHECK(bf16_of(parse(files, small_scenario())) == 0.5);
  CHECK(bf16_of(parse_with(catalogue, small_scenario())) == 0.6);
  CHECK(bf16_of(parse_with(catalogue, own)) == 0.7);
  CHECK(bf16_of(parse_with(catalogue, own,
                           {"override.chip.tiny.calibration.gemm.sustained.bf16=0.8"})) == 0.8);
}

TEST_CASE("[calibration] use reads the same file; --calibration stands in its place") {
  const SmallCatalogue files;
  files.write("own.toml", replaced(fit, "bf16 = 0.6", "bf16 = 0.65"));
  const std::string text =
      small_scenario() + "[calibration]\nuse = \"" + files.root() + "/own.toml\"\n";
  CHECK(bf16_of(parse(files, text)) == 0.65);
  CHECK(bf16_of(parse_with(overlaid(files, fit), text)) == 0.6);
}

TEST_CASE("of several overlays the later wins, key by key") {
  const SmallCatalogue files;
  Catalogue catalogue = overlaid(files, fit);
  Diagnostics out;
  files.write("later.toml", "schema = 1\n[override.chip.tiny.calibration]\n"
                            "gemm.sustained.bf16 = 0.9\nlaunch.stream_gap = \"7 us\"\n");
  auto later = load_overlay(files.root() + "/later.toml", catalogue, out);
  REQUIRE(later);
  catalogue.lay(std::move(*later));
  const auto chip = load_chip(catalogue, "tiny", out);
  REQUIRE(chip);
  CHECK(*chip->kernels.gemm.sustained[Precision::bf16] == 0.9);
  CHECK(chip->kernels.gemm.start.si() == 4e-6);
  CHECK(chip->kernels.launch.stream_gap.si() == 7e-6);
  const Outcome outcome = parse_with(catalogue, small_scenario());
  REQUIRE(outcome.scenario);
  CHECK(outcome.count() == 0);
  CHECK(outcome.scenario->assumptions.size() == 2);
}

TEST_CASE("the origin of an overlaid value is the calibration file") {
  const SmallCatalogue files;
  const Outcome outcome = parse_with(overlaid(files, fit), small_scenario());
  REQUIRE(outcome.scenario);
  const ResolvedValue& start = value_of(outcome.scenario->inputs, "calibration.plain.gemm.start");
  CHECK(start.origin == Origin::calibration);
  CHECK(start.where == files.root() + "/fit.toml:10");
  CHECK(start.source == "rows made up for tests");
  CHECK(start.note == "was 3 us");
  const auto& said = outcome.scenario->assumptions;
  const std::string sentence = "Calibration " + files.root() +
                               "/fit.toml: chip tiny with gemm.sustained.bf16 = 0.6, gemm.start = "
                               "\"4 us\", attention.flash-2.forward.128 = 0.45.";
  CHECK(std::count(said.begin(), said.end(), sentence) == 1);
}

TEST_CASE("an overlay that a scenario has no use for is a warning") {
  const SmallCatalogue files;
  files.write(
      "models/chips/other.toml",
      replaced(replaced(files.read("models/chips/tiny.toml"), "id = \"tiny\"", "id = \"other\""),
               "aliases = [\"Tiny One\", \"small\"]", "aliases = []"));
  const Outcome outcome =
      parse_with(overlaid(files, replaced(fit, "\"Tiny One\"", "other")), small_scenario());
  CHECK(bf16_of(outcome) == 0.5);
  REQUIRE(outcome.count() == 1);
  CHECK(outcome.text().find("fit.toml:8:16: warning: calibration") != std::string::npos);
  CHECK(outcome.text().find("uses none of its objects") != std::string::npos);
}

TEST_CASE("an overlay with a mistake is refused whole, even where nothing uses it") {
  const SmallCatalogue files;
  const auto refused = [&](const std::string& from, const std::string& to) {
    files.write("fit.toml", replaced(fit, from, to));
    Diagnostics out;
    CHECK_FALSE(load_overlay(files.root() + "/fit.toml", files.catalogue(), out));
    CHECK(out.exit_code() == ExitCode::bad_input);
    return render(out, false);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(has(refused("\"Tiny One\"", "tinny"), "8:16: error: unknown chip 'tinny'"));
  CHECK(has(refused("\"Tiny One\"", "tinny"), "did you mean \"tiny\"?"));
  CHECK(has(refused("bf16 = 0.6", "bf16 = 6"), "9:23: error: 6 is out of range"));
  CHECK(has(refused("128 = 0.45", "128 = 4.5"), "11:37: error: 4.5 is out of range"));
  CHECK(has(refused("flash-2.", "flash-3."), "did you mean \"flash-2\"?"));
  CHECK(has(refused("rows = 12", "raws = 12"), "did you mean \"rows\"?"));
}
