// Promises that hold for every schema, and values of every type.

#include "small_catalogue.hpp"
#include "spec/reference.hpp"
#include "spec/schemas.hpp"

#include <doctest/doctest.h>
#include <memory>

#include <fstream>
#include <set>
#include <sstream>

using namespace clustersim;
using namespace clustersim::test;

namespace {

template <class T>
void promises(const Schema<T>& schema) {
  CAPTURE(schema.name);
  std::set<std::string> keys;
  const auto held = std::make_unique<const T>(); // g++ 12 mistrusts large values on the stack
  const T& blank = *held;
  for (const Field<T>& field : schema.fields) {
    const FieldInfo& info = field.info;
    CAPTURE(info.key);
    CHECK(keys.insert(info.key).second);
    CHECK((!info.help.empty() || info.type == "reserved"));
    CHECK((!info.choices.empty() || !info.example.empty() || info.type == "reserved"));
    const bool bounded = info.type != "count" || (info.low >= 0 && info.high <= 1e16);
    CHECK(bounded);
    const auto shown = field.show(blank);
    if (!info.required && !info.derived && shown) {
      CHECK(!info.reason.empty()); // an echoed default says why
      if (shown->number) {
        CHECK(*shown->number >= info.low);
        CHECK(*shown->number <= info.high);
      }
    }
  }
}

} // namespace

TEST_CASE("every schema keeps its promises") {
  promises(scenario_schema());
  promises(model_choice_schema());
  promises(transformer_schema());
  promises(chip_schema());
  promises(node_schema());
  promises(fabric_schema());
  promises(link_schema());
  promises(stack_schema());
  promises(recipe_schema());
  promises(calibration_schema());
}

TEST_CASE("the reference page is what the tables say") {
  std::ostringstream page;
  page << std::ifstream(CLUSTERSIM_SOURCE_DIR "/docs/reference/input.md").rdbuf();
  const bool fresh = page.str() == schema_reference_markdown();
  CHECK_MESSAGE(fresh, "stale: write `clustersim reference input` to docs/reference/input.md");
}

TEST_CASE("wrong values of every type are reported where they stand") {
  const SmallCatalogue files;
  struct Case {
    const char *file, *from, *to, *where, *message, *help;
  };
  const std::string chip = "models/chips/tiny.toml", calibration = "models/calibrations/plain.toml";
  const Case cases[] = {
      {chip.c_str(), "\"1 TB/s\"", "\"1 TB\"", ":21:13", "", "expected a bandwidth"},
      {chip.c_str(), "\"1 TB/s\"", "1e12", ":21:13", "", "expected a bandwidth"},
      {chip.c_str(), "\"1 TB/s\"", "\"0 TB/s\"", ":21:13", "out of range", "above 0"},
      {chip.c_str(), "units = 10", "units = 10.5", ":12:9", "10.5 is not a whole number",
       "from 1 to"},
      {chip.c_str(), "units = 10", "units = true", ":12:9", "true is not a whole number",
       "from 1 to"},
      {chip.c_str(), "kind = \"gpu\"", "kind = \"gpus\"", ":6:8", "not a valid 'kind'",
       "did you mean \"gpu\"?"},
      {chip.c_str(), "vendor = \"Nobody\"", "vendor = 5", ":5:10", "5 is not a string", "a string"},
      {chip.c_str(), "[\"Tiny One\", \"small\"]", "\"small\"", ":4:11", "not a list", "a list"},
      {chip.c_str(), "vendor = \"Nobody\"\n", "", "", "'vendor' is missing", "a string"},
      {chip.c_str(), "count = 4", "cuont = 4", ":30:1", "unknown key 'cuont'",
       "did you mean \"count\"?"},
      {chip.c_str(), "[[port]]", "[port]", ":28:1", "must be a list of tables", "[[port]]"},
      {chip.c_str(), "[power]\ntdp", "tdp", ":24:1", "unknown key 'tdp' in [l2]",
       "'tdp' belongs in [power]"},
      {chip.c_str(), "date =", "dat =", ":27:32", "unknown key 'dat' beside a value", "date"},
      {chip.c_str(), "bf16 = \"100", "bf61 = \"100", ":15:1", "unknown key 'bf61'", "bf16"},
      {calibration.c_str(), "bf16 = 0.5", "bf16 = 1.5", ":12:8", "1.5 is out of range",
       "at most 1"},
      {calibration.c_str(), "[[128, 128]]", "[[128]]", ":10:10", "not a tile", "[[128, 128]"},
      {calibration.c_str(), "{ 64 = 0.3, 128", "{ 64 = 0.3, x", ":15:23", "not a head dimension",
       "{ 128 = 0.37 }"},
      {calibration.c_str(), "basis = \"measured\"", "basis = \"guessed\"", ":4:9", "not a valid",
       "\"measured\", \"family\""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.to);
    const std::string before = files.read(one.file);
    files.replace(one.file, one.from, one.to);
    Diagnostics out;
    CHECK_FALSE(load_chip(files.catalogue(), "tiny", out));
    const std::string text = render(out, false);
    INFO(text);
    CHECK(text.find(std::string(".toml") + one.where + ": error: ") != std::string::npos);
    CHECK(text.find(one.message) != std::string::npos);
    CHECK(text.find(one.help) != std::string::npos);
    files.write(one.file, before);
  }
}

TEST_CASE("fitted scalars are marked in the echo") {
  const SmallCatalogue files;
  Diagnostics out;
  std::vector<ResolvedValue> values;
  REQUIRE(load_stack(files.catalogue(), "frame", out, &values));
  CHECK(value_of(values, "stack.frame.host.per_operator").fitted == "time");
  CHECK(value_of(values, "stack.frame.memory.framework").fitted == "memory");
  files.replace("models/stacks/frame.toml", "fitted = \"time\"", "fitted = \"price\"");
  CHECK_FALSE(load_stack(files.catalogue(), "frame", out));
  CHECK(render(out, false).find("not a valid 'fitted'") != std::string::npos);
}
