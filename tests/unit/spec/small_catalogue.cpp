#include "small_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace clustersim::test {
namespace {

namespace fs = std::filesystem;

const char* const chip_text = R"(schema = 1
id = "tiny"
name = "Tiny 1"
aliases = ["Tiny One", "small"]
vendor = "Nobody"
kind = "gpu"
architecture = "Small"
source = "made-up"
[sources]
made-up = "made up for tests"
[compute]
units = 10
boost_clock = "1 GHz"
[compute.matrix]
bf16 = "100 TFLOP/s"
[compute.vector]
fp32 = "10 TFLOP/s"
[memory]
type = "HBM"
capacity = "16 GiB"
bandwidth = "1 TB/s"
[l2]
capacity = "8 MiB"
[power]
tdp = "300 W"
[price]
launch = { value = "1000 USD", date = "2024-01", note = "list" }
[[port]]
link = "wire"
count = 4
[calibration]
use = "plain"
)";

const char* const calibration_text = R"(schema = 1
id = "plain"
name = "Plain"
basis = "measured"
source = "made-up"
[sources]
made-up = "made up for tests"
[gemm]
start = "3 us"
tiles = [[128, 128]]
[gemm.sustained]
bf16 = 0.5
[[attention]]
kernel = "flash-2"
forward = { 64 = 0.3, 128 = 0.4 }
backward = { 64 = 0.2, 128 = 0.3 }
[memory]
copy = 0.8
half_size = "1 MB"
start = "2 us"
[memory.classes]
norm = 0.5
[launch]
stream_gap = "1 us"
graph_gap = "0.5 us"
)";

const char* const link_text = R"(schema = 1
id = "wire"
name = "Wire"
family = "pcie"
source = "made-up"
[sources]
made-up = "made up for tests"
[link]
bandwidth = "25 GB/s"
latency = "1 us"
[[protocol]]
name = "bulk"
launch = "5 us"
step = "1 us"
)";

const char* const node_text = R"(schema = 1
id = "pair"
name = "Pair"
source = "made-up"
[sources]
made-up = "made up for tests"
[node]
chip = "tiny"
chips = 2
[host]
pcie = "wire"
memory = "wire"
[nic]
count = 1
link = "wire"
)";

const char* const fabric_text = R"(schema = 1
id = "switch"
name = "Switch"
source = "made-up"
[sources]
made-up = "made up for tests"
[fabric]
shape = "single-switch"
link = "wire"
)";

const char* const model_text = R"(schema = 1
id = "toy-model"
name = "Toy"
source = "made-up"
[sources]
made-up = "made up for tests"
[model]
layers = 2
hidden = 64
heads = 4
vocabulary = 1000
max_positions = 128
sequence_default = 128
)";

const char* const recipe_text = R"(schema = 1
id = "bare"
name = "Bare"
source = "made-up"
[sources]
made-up = "made up for tests"
[[kernel]]
name = "norm"
site = "norm"
class = "norm"
forward = 2
backward = 3
)";

const char* const stack_text = R"(schema = 1
id = "frame"
name = "Frame"
source = "made-up"
[sources]
made-up = "made up for tests"
[stack]
launch = "eager"
recipe = "bare"
attention_kernel = "flash-2"
[host]
per_operator = { value = "10 us", fitted = "time" }
[overlap]
bucket = "25 MB"
[memory]
framework = { value = "1 GiB", fitted = "memory" }
)";

const char* const optimizer_text = R"(schema = 1
id = "adamw"
name = "AdamW"
source = "made-up"
[sources]
made-up = "made up for tests"
[update]
flops = 15
[[state]]
name = "momentum"
dtype = "fp32"
[[state]]
name = "variance"
dtype = "fp32"
)";

} // namespace

SmallCatalogue::SmallCatalogue() {
  static int number = 0;
  root_ = (fs::temp_directory_path() /
           ("clustersim-spec-" + std::to_string(getpid()) + "-" + std::to_string(++number)))
              .string();
  fs::remove_all(root_);
  write("models/chips/tiny.toml", chip_text);
  write("models/calibrations/plain.toml", calibration_text);
  write("models/transformers/toy-model.toml", model_text);
  write("models/recipes/bare.toml", recipe_text);
  write("models/stacks/frame.toml", stack_text);
  write("models/optimizers/adamw.toml", optimizer_text);
  write("topologies/links/wire.toml", link_text);
  write("topologies/nodes/pair.toml", node_text);
  write("topologies/fabrics/switch.toml", fabric_text);
}

SmallCatalogue::~SmallCatalogue() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void SmallCatalogue::write(const std::string& path, const std::string& text) const {
  const fs::path whole = fs::path(root_) / path;
  fs::create_directories(whole.parent_path());
  std::ofstream(whole, std::ios::binary) << text;
}

std::string SmallCatalogue::read(const std::string& path) const {
  std::ostringstream text;
  text << std::ifstream(fs::path(root_) / path, std::ios::binary).rdbuf();
  return text.str();
}

void SmallCatalogue::replace(const std::string& path, const std::string& from,
                             const std::string& to) const {
  write(path, replaced(read(path), from, to));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, "not in the text: " << from);
  return text.replace(at, from.size(), to);
}

std::string small_scenario() {
  return R"(schema = 1
title = "Small"

[cluster]
node = "pair"
nodes = 2
fabric = "switch"

[model]
use = "toy-model"

[training]
sequence = 128
global_batch = 8
stack = "frame"

[plan]
tensor = 2
data = 2
)";
}

Outcome parse(const SmallCatalogue& catalogue, const std::string& text,
              const std::vector<std::string>& settings) {
  Outcome outcome;
  outcome.scenario = parse_scenario(text, "scenario.toml", catalogue.catalogue(),
                                    LoadOptions{settings}, outcome.diagnostics);
  return outcome;
}

const ResolvedValue& value_of(const std::vector<ResolvedValue>& values, const std::string& key) {
  const auto it = std::find_if(values.begin(), values.end(),
                               [&](const ResolvedValue& value) { return value.key == key; });
  REQUIRE_MESSAGE(it != values.end(), "not echoed: " << key);
  return *it;
}

} // namespace clustersim::test
