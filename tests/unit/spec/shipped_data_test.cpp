// The catalogue that ships: every file loads, under its own name, with its fitted scalars in
// bounds.

#include "spec/catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace clustersim;

namespace {

bool loads(const Catalogue& catalogue, const CatalogueEntry& entry, Diagnostics& out,
           std::vector<ResolvedValue>& values) {
  switch (entry.kind) {
  case Kind::chip:
    return load_chip(catalogue, entry.id, out, &values).has_value();
  case Kind::transformer:
    return load_transformer(catalogue, entry.id, out, &values).has_value();
  case Kind::node:
    return load_node(catalogue, entry.id, out, &values).has_value();
  case Kind::fabric:
    return load_fabric(catalogue, entry.id, out, &values).has_value();
  case Kind::link:
    return load_link(catalogue, entry.id, out, &values).has_value();
  case Kind::stack:
    return load_stack(catalogue, entry.id, out, &values).has_value();
  case Kind::optimizer:
    return load_optimizer(catalogue, entry.id, out, &values).has_value();
  case Kind::recipe:      // loaded by the stacks
  case Kind::calibration: // loaded by the chips
    return true;
  }
  return false;
}

} // namespace

TEST_CASE("every shipped file loads without a word") {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  CHECK(catalogue.entries().size() > 50);
  for (const CatalogueEntry& entry : catalogue.entries()) {
    CAPTURE(entry.path);
    Diagnostics out;
    std::vector<ResolvedValue> values;
    const bool good = loads(catalogue, entry, out, values);
    CHECK_MESSAGE(good, render(out, false));
    CHECK_MESSAGE(out.empty(), render(out, false));
    CHECK(std::filesystem::path(entry.path).stem().string() == entry.id);
    for (const ResolvedValue& value : values) {
      const bool cited =
          value.origin != Origin::catalogue || !value.number || !value.source.empty();
      CHECK_MESSAGE(cited, value.key << " has no source");
    }
  }
}

TEST_CASE("every entry is found by each of its names, and its id means it alone") {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  for (const CatalogueEntry& entry : catalogue.entries()) {
    CAPTURE(entry.id);
    const auto by_id = catalogue.find(entry.kind, entry.id);
    REQUIRE(by_id.size() == 1);
    CHECK(by_id[0] == &entry);
    for (const std::string& alias : entry.aliases) {
      CAPTURE(alias);
      const auto found = catalogue.find(entry.kind, alias);
      CHECK(std::find(found.begin(), found.end(), &entry) != found.end());
    }
  }
}

TEST_CASE("a stack has at most two fitted scalars for time and one for memory") {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != Kind::stack) {
      continue;
    }
    CAPTURE(entry.id);
    Diagnostics out;
    std::vector<ResolvedValue> values;
    REQUIRE(load_stack(catalogue, entry.id, out, &values));
    std::map<std::string, int> fitted;
    for (const ResolvedValue& value : values) {
      ++fitted[value.fitted];
    }
    CHECK(fitted["time"] <= 2);
    CHECK(fitted["memory"] <= 1);
  }
}

TEST_CASE("what chips and stacks name exists: the links of ports, attention kernels") {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  std::set<std::string> kernels{"unfused"};
  std::vector<Stack> stacks;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    CAPTURE(entry.id);
    Diagnostics out;
    if (entry.kind == Kind::chip) {
      const auto chip = load_chip(catalogue, entry.id, out);
      REQUIRE(chip);
      for (const ChipPort& port : chip->ports) {
        CAPTURE(port.link);
        CHECK(catalogue.find(Kind::link, port.link).size() == 1);
      }
      for (const AttentionRate& rate : chip->kernels.attention) {
        kernels.insert(rate.kernel);
      }
    } else if (entry.kind == Kind::stack) {
      stacks.push_back(*load_stack(catalogue, entry.id, out));
    }
  }
  REQUIRE_FALSE(stacks.empty());
  for (const Stack& stack : stacks) {
    CAPTURE(stack.id);
    CHECK(kernels.count(stack.attention_kernel) == 1);
    for (const std::string& kernel : stack.attention_fallbacks) {
      CHECK(kernels.count(kernel) == 1);
    }
  }
}
