// Every file that ships loads, cites a source for each figure, and agrees with itself.

#include "spec/catalogue.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

const Catalogue& shipped() {
  static const Catalogue catalogue{{CLUSTERSIM_SOURCE_DIR}};
  return catalogue;
}

std::vector<const CatalogueEntry*> all_of(Kind kind) {
  std::vector<const CatalogueEntry*> found;
  for (const CatalogueEntry& entry : shipped().entries()) {
    if (entry.kind == kind) found.push_back(&entry);
  }
  return found;
}

using Values = std::vector<ResolvedValue>;

/// Loads an entry of any kind that has a loader; true when nothing was wrong.
bool loads(const CatalogueEntry& entry, Diagnostics& out, Values& values) {
  switch (entry.kind) {
  case Kind::chip:
    return load_chip(shipped(), entry.id, out, &values).has_value();
  case Kind::transformer:
    return load_transformer(shipped(), entry.id, out, &values).has_value();
  case Kind::node:
    return load_node(shipped(), entry.id, out, &values).has_value();
  case Kind::fabric:
    return load_fabric(shipped(), entry.id, out, &values).has_value();
  case Kind::link:
    return load_link(shipped(), entry.id, out, &values).has_value();
  case Kind::stack:
    return load_stack(shipped(), entry.id, out, &values).has_value();
  case Kind::optimizer:
    return load_optimizer(shipped(), entry.id, out, &values).has_value();
  case Kind::recipe:
  case Kind::calibration:
    break; // read as parts of stacks and chips
  }
  return true;
}

Chip chip_of(const CatalogueEntry& entry) {
  Diagnostics out;
  const std::optional<Chip> chip = load_chip(shipped(), entry.id, out);
  REQUIRE_MESSAGE(chip.has_value(), render(out, false));
  return *chip;
}

/// FLOP per clock and unit of the dense 16-bit matrix path with FP32 accumulation, from the makers'
/// white papers. GeForce parts and some others run at half of it.
struct UnitRate {
  std::string architecture;
  double flop_per_clock = 0;
};
const std::vector<UnitRate>& unit_rates() {
  static const std::vector<UnitRate> rates{
      {"Volta", 8 * 64 * 2},             // 8 tensor cores of 4 x 4 x 4 FMA
      {"Turing", 8 * 64 * 2},            // the same
      {"Hopper", 4 * 512 * 2},           // 4 tensor cores of 512 FMA
      {"Blackwell", 4 * 1024 * 2},       // 4 tensor cores of 1024 FMA
      {"Blackwell Ultra", 4 * 1024 * 2}, // the same
      {"Ada", 4 * 128 * 2},              // 4 tensor cores of 128 FMA
      {"Blackwell RTX", 4 * 128 * 2},    // the same
      {"CDNA2", 1024},                   // AMD CDNA2 white paper, table 1
      {"CDNA3", 2048},                   // AMD CDNA3 white paper, table 1
      {"CDNA4", 4096},                   // AMD CDNA4 white paper
      {"RDNA3", 512},                    // WMMA
  };
  return rates;
}

/// GA100 has tensor cores of 256 FMA, GA10x of 128: the same architecture name, told apart by
/// memory.
double unit_rate(const Chip& chip) {
  if (chip.architecture == "Ampere")
    return chip.memory.type.starts_with("HBM") ? 4 * 256 * 2 : 4 * 128 * 2;
  const auto& rates = unit_rates();
  const auto found = std::ranges::find(rates, chip.architecture, &UnitRate::architecture);
  return found == rates.end() ? 0.0 : found->flop_per_clock;
}

bool within(double a, double b, double tolerance) {
  return std::abs(a / b - 1.0) <= tolerance;
}

/// Lines of a list file without comments, split at '|'.
std::vector<std::vector<std::string>> list_file(const std::string& name) {
  const std::string path = std::string(CLUSTERSIM_SOURCE_DIR) + "/tests/hygiene/" + name;
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells = split(line, '|');
    for (std::string& cell : cells)
      cell = trim(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

/// How many things of the catalogue a name of the evidence can mean.
std::size_t meanings(const std::string& kind, const std::string& name) {
  if (kind == "chip") return shipped().find(Kind::chip, name).size();
  return shipped().find(Kind::node, name).size() + shipped().find(Kind::fabric, name).size();
}

} // namespace

TEST_CASE("every shipped file loads without a word of complaint") {
  REQUIRE(all_of(Kind::chip).size() >= 130);
  REQUIRE(all_of(Kind::transformer).size() >= 12);
  for (const CatalogueEntry& entry : shipped().entries()) {
    Diagnostics out;
    Values values;
    const bool loaded = loads(entry, out, values);
    CHECK_MESSAGE(loaded, entry.path);
    CHECK_MESSAGE(out.empty(), render(out, false));
  }
}

TEST_CASE("a file is named after the id in it") {
  for (const CatalogueEntry& entry : shipped().entries()) {
    CHECK_MESSAGE(std::filesystem::path(entry.path).stem() == entry.id, entry.path);
    CHECK_MESSAGE(canonical_id(entry.id) == entry.id, entry.path);
  }
}

TEST_CASE("every figure of the catalogue has a source") {
  for (const CatalogueEntry& entry : shipped().entries()) {
    if (entry.kind == Kind::recipe || entry.kind == Kind::calibration) continue;
    Diagnostics out;
    Values values;
    if (!loads(entry, out, values)) continue; // told above
    CHECK_MESSAGE(!values.empty(), entry.path);
    for (const ResolvedValue& value : values) {
      if (value.origin != Origin::catalogue || !value.number) continue;
      CHECK_MESSAGE(!value.source.empty(), entry.path << ": " << value.key);
    }
  }
}

TEST_CASE("names mean one thing, but for a few that the makers sell twice") {
  // Memory size or form factor is missing from these, so they list their candidates.
  const std::set<std::string> ambiguous{"a100",      "a100-sxm4", "a100-pcie", "v100",
                                        "v100-sxm2", "v100-pcie", "p100"};
  std::set<std::string> seen_ambiguous;
  for (const CatalogueEntry& entry : shipped().entries()) {
    std::vector<std::string> names{entry.id, entry.name};
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
    for (const std::string& name : names) {
      const auto found = shipped().find(entry.kind, name);
      CHECK_MESSAGE(std::ranges::find(found, &entry) != found.end(), entry.path << ": " << name);
      if (entry.kind == Kind::chip && ambiguous.contains(canonical_id(name))) {
        CHECK_MESSAGE(found.size() >= 2, name);
        seen_ambiguous.insert(canonical_id(name));
      } else {
        CHECK_MESSAGE(found.size() == 1, entry.path << ": " << name);
      }
    }
  }
  CHECK(seen_ambiguous == ambiguous);
}

TEST_CASE("the name A6000 Ada leads to the RTX 6000 Ada and says what it is not") {
  const auto found = shipped().find(Kind::chip, "A6000 Ada");
  REQUIRE(found.size() == 1);
  CHECK(found[0]->id == "rtx-6000-ada");
  const Chip chip = chip_of(*found[0]);
  CHECK(chip.note.find("NOT the RTX A6000") != std::string::npos);
  const auto ampere = shipped().find(Kind::chip, "rtx-a6000");
  REQUIRE(ampere.size() == 1);
  // 142 SM at 2505 MHz against 84 SM at 1800 MHz, both with 1024 FLOP per clock
  const double ratio = *chip.matrix[Precision::bf16] / *chip_of(*ampere[0]).matrix[Precision::bf16];
  CHECK(ratio == close_to(142.0 * 2505.0 / (84.0 * 1800.0), 0.01));
}

TEST_CASE("16-bit matrix peaks are units x clock x FLOP per clock, or half of that") {
  // The H20's matrix rate is cut by design, with no clock behind it; NVIDIA prints 110 TFLOP/s for
  // the TITAN V, which are those of a lower clock than its boost clock.
  const std::set<std::string> cut{"h20-96gb", "titan-v"};
  int checked = 0;
  for (const CatalogueEntry* entry : all_of(Kind::chip)) {
    const Chip chip = chip_of(*entry);
    const double per_clock = unit_rate(chip);
    if (per_clock == 0.0 || !chip.boost_clock || cut.contains(chip.id)) continue;
    REQUIRE_MESSAGE(chip.matrix[Precision::fp16].has_value(), chip.id);
    const double full = chip.compute_units * chip.boost_clock->si() * per_clock;
    const double peak = chip.matrix[Precision::fp16]->si();
    const double tolerance = 0.02; // data sheets round clocks and rates
    CHECK_MESSAGE((within(peak, full, tolerance) || within(peak, full / 2.0, tolerance)), chip.id);
    if (const auto& wide = chip.matrix_accumulate_16[Precision::fp16]) {
      CHECK_MESSAGE(within(wide->si(), full, tolerance), chip.id);
    }
    ++checked;
  }
  CHECK(checked >= 60);
}

TEST_CASE("16-bit matrix peaks of systolic chips are arrays x clock x 2 x edge squared") {
  const std::map<std::string, double> edges{{"tpu-v2", 128},  {"tpu-v3", 128},  {"tpu-v4", 128},
                                            {"tpu-v5e", 128}, {"tpu-v5p", 128}, {"tpu-v6e", 256},
                                            {"tpu-v7", 256},  {"tpu-v4i", 128}};
  for (const auto& one : edges) {
    const std::string& id = one.first; // clang 14 lets no lambda take a structured binding
    const double edge = one.second;
    const auto found = shipped().find(Kind::chip, id);
    REQUIRE_MESSAGE(found.size() == 1, id);
    const Chip chip = chip_of(*found[0]);
    REQUIRE_MESSAGE(chip.boost_clock.has_value(), id);
    const double peak = chip.compute_units * chip.boost_clock->si() * 2.0 * edge * edge;
    CHECK_MESSAGE(within(chip.matrix[Precision::bf16]->si(), peak, 0.01), id);
  }
}

TEST_CASE("formats exist only where the silicon has them") {
  for (const CatalogueEntry* entry : all_of(Kind::chip)) {
    const Chip chip = chip_of(*entry);
    const std::set<std::string> before_bf16{"Maxwell", "Pascal", "Volta", "Turing"};
    if (before_bf16.contains(chip.architecture)) {
      CHECK_MESSAGE(!chip.matrix[Precision::bf16].has_value(), chip.id);
      CHECK_MESSAGE(!chip.matrix[Precision::tf32].has_value(), chip.id);
      CHECK_MESSAGE(!chip.vector[Precision::bf16].has_value(), chip.id);
    }
    if (before_bf16.contains(chip.architecture) || chip.architecture == "Ampere") {
      CHECK_MESSAGE(!chip.matrix[Precision::fp8].has_value(), chip.id);
      CHECK_MESSAGE(!chip.matrix[Precision::fp4].has_value(), chip.id);
    }
    // Makers of accelerators often state the rate of the matrix units alone.
    if (chip.kind == ChipKind::gpu || chip.kind == ChipKind::cpu)
      CHECK_MESSAGE(chip.vector[Precision::fp32].has_value(), chip.id);
    if (chip.kind == ChipKind::cpu) CHECK_MESSAGE(!chip.structured_sparsity, chip.id);
  }
}

TEST_CASE("ports name links of the catalogue") {
  std::set<std::string> missing, portless;
  for (const CatalogueEntry* entry : all_of(Kind::chip)) {
    const Chip chip = chip_of(*entry);
    if (chip.ports.empty()) portless.insert(chip.id);
    for (const ChipPort& port : chip.ports) {
      if (shipped().find(Kind::link, port.link).size() != 1) missing.insert(port.link);
    }
  }
  CHECK(missing.empty());
  // GPUs of a system on a chip have none; of the others no source for them was read.
  CHECK(portless == std::set<std::string>{"apple-m1-ultra", "apple-m2-ultra", "apple-m3-ultra",
                                          "dojo-d1", "maia-100"});
}

TEST_CASE("dies are as fine and as dense as their process makes them") {
  int checked = 0;
  for (const CatalogueEntry* entry : all_of(Kind::chip)) {
    const Chip chip = chip_of(*entry);
    const auto& die = chip.die;
    if (die.process_nm) CHECK_MESSAGE((*die.process_nm >= 3 && *die.process_nm <= 65), chip.id);
    if (!die.area_mm2 || !die.transistors || !die.process_nm) continue;
    // A transistor takes 95 to 700 squares of the node's name: a slip of ten in a figure shows.
    const double nm2_per_mm2 = 1e12;
    const double squares = *die.area_mm2 * nm2_per_mm2 / (*die.process_nm * *die.process_nm);
    CHECK_MESSAGE(squares / *die.transistors > 80.0, chip.id);
    CHECK_MESSAGE(squares / *die.transistors < 800.0, chip.id);
    ++checked;
  }
  CHECK(checked >= 90);
}

TEST_CASE("memory and power figures are possible") {
  for (const CatalogueEntry* entry : all_of(Kind::chip)) {
    const Chip chip = chip_of(*entry);
    const auto& memory = chip.memory;
    CHECK_MESSAGE(memory.usable <= memory.capacity, chip.id);
    // Metal lends a program three quarters of a memory that the CPU uses too.
    const double least = chip.vendor == "Apple" ? 0.75 : 0.9;
    CHECK_MESSAGE(memory.usable >= least * memory.capacity, chip.id);
    // Inline ECC keeps one byte in sixteen.
    if (memory.ecc_inline) CHECK_MESSAGE(memory.usable <= memory.capacity * (15.0 / 16.0), chip.id);
    CHECK_MESSAGE(chip.l2.bandwidth >= memory.bandwidth, chip.id);
    CHECK_MESSAGE(chip.power.idle < chip.power.tdp * 0.5, chip.id);
    CHECK_MESSAGE(chip.power.idle > Watts{0.0}, chip.id);
  }
}

TEST_CASE("parameter counts equal those of the public checkpoints") {
  int exact = 0;
  for (const CatalogueEntry* entry : all_of(Kind::transformer)) {
    Diagnostics out;
    const auto model = load_transformer(shipped(), entry->id, out);
    REQUIRE_MESSAGE(model.has_value(), render(out, false));
    if (!model->published_parameters) {
      // No checkpoint: the note states what was published.
      CHECK_MESSAGE(model->note.find("illion") != std::string::npos, entry->path);
      continue;
    }
    CHECK_MESSAGE(count_parameters(*model).total == *model->published_parameters, entry->path);
    ++exact;
  }
  CHECK(exact >= 12);
}

TEST_CASE("a stack sets at most two constants for time and one for memory on measured runs") {
  for (const CatalogueEntry* entry : all_of(Kind::stack)) {
    Diagnostics out;
    Values values;
    REQUIRE_MESSAGE(load_stack(shipped(), entry->id, out, &values).has_value(), render(out, false));
    const auto fitted = [&values](const std::string& what) {
      return std::ranges::count(values, what, &ResolvedValue::fitted);
    };
    CHECK_MESSAGE(fitted("time") <= 2, entry->path);
    CHECK_MESSAGE(fitted("memory") <= 1, entry->path);
  }
}

TEST_CASE("every chip and system named by the evidence resolves, or is a known unknown") {
  std::map<std::string, std::string> unknown;
  for (const auto& row : list_file("known_unknown_names.txt")) {
    REQUIRE(row.size() == 3);
    CHECK_MESSAGE(!row[2].empty(), row[1] << " needs a reason");
    CHECK_MESSAGE(unknown.emplace(row[0] + " | " + row[1], row[2]).second, row[1]);
  }
  std::size_t used = 0;
  for (const auto& row : list_file("evidence_names.txt")) {
    REQUIRE(row.size() == 3);
    const bool resolves = meanings(row[0], row[1]) == 1;
    const bool listed = unknown.contains(row[0] + " | " + row[1]);
    used += listed ? 1 : 0;
    CHECK_MESSAGE((resolves || listed), row[1] << " (" << row[2] << ") resolves to nothing");
    CHECK_MESSAGE(!(resolves && listed), row[1] << " resolves now: take it off the list");
  }
  CHECK_MESSAGE(used == unknown.size(), "a known unknown is not in the evidence");
}
