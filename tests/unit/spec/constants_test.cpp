// Constants one by one, on every calibration of the catalogue.

#include "base/bug.hpp"
#include "spec/catalogue.hpp"
#include "spec/constants.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

std::vector<Chip> chips() {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  std::vector<Chip> out;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind == Kind::chip) {
      Diagnostics diagnostics;
      const auto chip = load_chip(catalogue, entry.id, diagnostics);
      REQUIRE(chip);
      out.push_back(*chip);
    }
  }
  return out;
}

const CalibrationConstant* find(const std::vector<CalibrationConstant>& all,
                                const std::string& key) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.key == key; });
  return found == all.end() ? nullptr : &*found;
}

} // namespace

TEST_CASE("a constant that is set is read back, and no other moves") {
  for (const Chip& chip : chips()) {
    CAPTURE(chip.id);
    const std::vector<CalibrationConstant> before = constants_of(chip.kernels);
    for (const CalibrationConstant& one : before) {
      CAPTURE(one.key);
      if (!one.value || *one.value <= 0) {
        continue;
      }
      KernelCalibration changed = chip.kernels;
      const double wanted = std::clamp(*one.value * 0.9, one.low, one.high);
      set_constant(changed, one.key, wanted);
      const std::vector<CalibrationConstant> after = constants_of(changed);
      REQUIRE(after.size() == before.size());
      for (std::size_t i = 0; i < after.size(); ++i) {
        const double expected = before[i].key == one.key ? wanted : before[i].value.value_or(-1);
        CHECK(after[i].value.value_or(-1) == close_to(expected, 1e-12));
      }
    }
  }
}

TEST_CASE("keys are unique, lie in range, and name shares, times and sizes alone") {
  for (const Chip& chip : chips()) {
    std::set<std::string> keys;
    for (const CalibrationConstant& one : constants_of(chip.kernels)) {
      CAPTURE(one.key);
      CHECK(keys.insert(one.key).second);
      CHECK((one.unit == "1" || one.unit == "s" || one.unit == "B"));
      CHECK(one.value.value_or(one.high) <= one.high);
      CHECK(one.value.value_or(one.low) >= one.low);
    }
    CHECK(keys.count("power.reference_tdp") == 0);
    CHECK(keys.count("gemm.alignment") == 0);
  }
}

TEST_CASE("attention's constants are named by kernel, pass and head dimension") {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  Diagnostics diagnostics;
  const auto chip = load_chip(catalogue, "h100-sxm5-80gb", diagnostics);
  REQUIRE(chip);
  const auto all = constants_of(chip->kernels);
  const CalibrationConstant* share = find(all, "attention.flash-2.forward.128");
  REQUIRE(share != nullptr);
  CHECK(path_of(share->key) == std::vector<std::string>{"attention", "flash-2", "forward", "128"});
  CHECK(path_of("attention.v2.1.start") == std::vector<std::string>{"attention", "v2.1", "start"});
  CHECK(path_of("gemm.burst.bf16") == std::vector<std::string>{"gemm", "burst", "bf16"});
}

TEST_CASE("written to four digits, and meant as written") {
  const CalibrationConstant share{"s", "1", "", 0, 1, 0.5}, time{"t", "s", "", 0, 1, 1e-6},
      size{"b", "B", "", 0, 1e12, 1e6};
  CHECK(constant_text(share, 0.123456) == "0.1235");
  CHECK(as_written(share, 0.123456) == 0.1235);
  CHECK(constant_text(time, 2.87412e-6) == "2.874 us");
  CHECK(as_written(time, 2.87412e-6) == close_to(2.874e-6, 1e-12));
  CHECK(constant_text(size, 2143210) == "2.143 MB");
  CHECK(as_written(size, 2143210) == 2143000);
}

TEST_CASE("no constant of that name is a bug of the caller's") {
  KernelCalibration blank;
  CHECK_THROWS_AS(set_constant(blank, "gemm.strat", 1), Bug);
  CHECK_THROWS_AS(set_constant(blank, "gemm.tiles", 1), Bug);
  CHECK_THROWS_AS(set_constant(blank, "gemm.start", -1), Bug);
  CHECK_THROWS_AS(set_constant(blank, "attention.flash-2.start", 1), Bug);
}
