// Calculon (Isaev, McDonald, Dennison, Vuduc, SC23): its three JSON files.

#include "foreign/imported_scenario.hpp"
#include "foreign/json_config.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace clustersim {
namespace {

struct Part {
  const ForeignFile* file = nullptr;
  std::optional<JsonConfig> json;
};

struct Parts {
  Part application, execution, system;
};

/// Each file is known by a key that the others lack.
std::optional<Parts> parts_of(const std::vector<ForeignFile>& files, Diagnostics& out) {
  Parts parts;
  for (const ForeignFile& file : files) {
    auto json = JsonConfig::parse(file.text, file.path, out);
    if (!json) return std::nullopt;
    Part* part = json->has("hidden")      ? &parts.application
                 : json->has("num_procs") ? &parts.execution
                 : json->has("mem1")      ? &parts.system
                                          : nullptr;
    if (part == nullptr || part->file != nullptr) {
      complain(out, file.path,
               part == nullptr ? "this is none of Calculon's files" : "a second file of one kind",
               "an application, an execution and a system");
      return std::nullopt;
    }
    part->file = &file;
    part->json = std::move(json);
  }
  for (const auto& [part, name] : {std::pair{&parts.application, "application"},
                                   {&parts.execution, "execution"},
                                   {&parts.system, "system"}}) {
    if (part->file == nullptr) {
      complain(out, files.empty() ? "" : files.front().path,
               fmt::format("Calculon's {} file is missing", name),
               "three files: application, execution, system");
      return std::nullopt;
    }
  }
  return parts;
}

void model(JsonConfig& c, ConfigText& out) {
  const std::int64_t hidden = c.count("hidden");
  out.set("model", "layers", c.count("num_blocks"));
  out.set("model", "hidden", hidden);
  out.set("model", "heads", c.count("attn_heads"));
  out.set("model", "head_dim", c.count("attn_size"));
  out.set("model", "ffn_hidden", c.count("feedforward", 4 * hidden));
  out.set("model", "vocabulary", std::int64_t{51200});
  c.defaulted.emplace_back("vocabulary = 51200: Calculon has neither embedding nor head");
  out.set("model", "position", "learned");
  out.set("model", "max_positions", c.count("seq_size"));
  out.set("model", "sequence_default", c.count("seq_size"));
  out.set("model", "tied_embeddings", true);
  for (const char* key : {"attention_bias", "projection_bias", "mlp_bias"})
    out.set("model", key, true);
  c.infer("GELU, layer norms and biases: the block that Calculon times");
}

void recompute(JsonConfig& c, ConfigText& out) {
  const std::string what = c.text("activation_recompute", "none");
  if (what == "full") {
    out.set("plan", "recompute", "full");
  } else if (what == "attn_only" || what == "partial") {
    out.set("plan", "recompute", "selective");
  } else if (what != "none") {
    c.refuse("'activation_recompute' is none of full, attn_only and none", "activation_recompute");
  }
}

void precision(JsonConfig& c, ConfigText& out) {
  const std::string type = c.text("datatype", "float16");
  const char* ours = type == "float16"    ? "fp16"
                     : type == "bfloat16" ? "bf16"
                     : type == "float32"  ? "fp32"
                     : type == "float8"   ? "fp8"
                                          : "";
  if (*ours == '\0') c.refuse("'datatype' is unknown here", "datatype");
  out.set("training", "precision", *ours == '\0' ? "bf16" : ours);
}

void plan(JsonConfig& c, ConfigText& out) {
  out.set("training", "global_batch", c.count("batch_size"));
  precision(c, out);
  out.set("training", "optimizer", "adamw");
  out.set("training", "dropout", true);
  c.infer("dropout = true: Calculon keeps its masks");
  out.set("training", "stack", "megatron-lm-2022");
  c.defaulted.emplace_back("stack = megatron-lm-2022: what Calculon was compared with");
  const std::int64_t tensor = c.count("tensor_par");
  out.set("plan", "tensor", tensor);
  out.set("plan", "pipeline", c.count("pipeline_par"));
  out.set("plan", "data", c.count("data_par"));
  const std::int64_t chunks = c.count("pipeline_interleaving", 1);
  if (chunks > 1) out.set("plan", "virtual_stages", chunks);
  const std::string exchange = c.text("tensor_par_comm_type", "ar");
  out.set("plan", "sequence_parallel", exchange == "rs_ag" && tensor > 1);
  if (exchange == "p2p_rs_ag") c.infer("scattered sends between stages: always so here");
  out.set("plan", "zero", std::int64_t{c.flag("optimizer_sharding", false) ? 1 : 0});
  out.set("plan", "micro_batch", c.count("microbatch_size"));
  recompute(c, out);
  for (const char* key : {"weight_offload", "activations_offload", "optimizer_offload"})
    c.only(key, "false", "offload to the host");
  c.only("training", "true", "inference");
  const std::string attention = c.text("attention_type", "multihead");
  if (attention == "multiquery") {
    out.set("model", "kv_heads", std::int64_t{1});
  } else if (attention != "multihead") {
    c.refuse("'attention_type' is neither multihead nor multiquery", "attention_type");
  }
}

struct Rates {
  double matrix = 0, memory = 0, capacity = 0; // FLOP/s, B/s, B
  std::int64_t chips = 1;                      // that share the fastest network
};

/// Distance of two machines: factors in rate, bandwidth and size; as many chips in a node counts
/// most.
double distance(const Rates& wanted, const Node& node) {
  const auto rate = training_matrix_rate(node.chip, Precision::fp16);
  if (!rate) return std::numeric_limits<double>::infinity();
  const auto factor = [](double a, double b) { return std::abs(std::log(a / b)); };
  return factor(wanted.matrix, rate->si()) +
         factor(wanted.memory, node.chip.memory.bandwidth.si()) +
         factor(wanted.capacity, node.chip.memory.capacity.si()) +
         2.0 * factor(static_cast<double>(wanted.chips), node.chips);
}

std::optional<Node> nearest_node(const Rates& wanted, const Catalogue& catalogue) {
  std::optional<Node> best;
  double least = std::numeric_limits<double>::infinity();
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != Kind::node) continue;
    Diagnostics ignored;
    auto node = load_node(catalogue, entry.id, ignored);
    if (!node) continue;
    const double far = distance(wanted, *node);
    if (far < least) {
      least = far;
      best = std::move(node);
    }
  }
  return best;
}

Rates rates_of(JsonConfig& c) {
  JsonConfig matrix = c.child("matrix"), memory = c.child("mem1");
  Rates rates;
  rates.matrix = matrix.real("tflops") * 1e12;
  rates.memory = memory.real("GBps") * 1e9;
  rates.capacity = memory.real("GiB") * 1024.0 * 1024.0 * 1024.0;
  c.take_over(matrix, "matrix");
  c.take_over(memory, "mem1");
  JsonConfig network = c.first("networks");
  rates.chips = network.count("size", 1);
  c.take_over(network, "networks");
  return rates;
}

void machine(JsonConfig& c, const Rates& rates, const Node& node, std::int64_t processors,
             ConfigText& out) {
  const std::int64_t per_node = std::min<std::int64_t>(node.chips, processors);
  const std::int64_t nodes = (processors + per_node - 1) / per_node;
  out.set("cluster", "node", node.id);
  out.set("cluster", "nodes", nodes);
  const bool hopper = rates.matrix > 5e14;
  if (nodes > 1) out.set("cluster", "fabric", hopper ? "rail-optimized-ndr" : "rail-optimized-hdr");
  c.infer(fmt::format("node = {}: the nearest of the catalogue, with Calculon's rates and memory",
                      node.id));
  if (nodes > 1) c.infer("fabric: InfiniBand of the chip's generation");
  if (per_node != node.chips) {
    out.set(fmt::format("override.node.\"{}\"", node.id), "node.chips", per_node);
  }
  const std::string chip = fmt::format("override.chip.\"{}\"", node.chip.id);
  for (const char* type : {"fp16", "bf16"}) {
    out.set(chip, fmt::format("compute.matrix.{}", type),
            fmt::format("{} TFLOP/s", rates.matrix / 1e12));
  }
  out.set(chip, "memory.bandwidth", fmt::format("{} GB/s", rates.memory / 1e9));
}

} // namespace

std::optional<ImportedScenario> import_calculon(const std::vector<ForeignFile>& files,
                                                const Catalogue& catalogue, Diagnostics& out) {
  auto parts = parts_of(files, out);
  if (!parts) return std::nullopt;
  JsonConfig& application = *parts->application.json;
  JsonConfig& execution = *parts->execution.json;
  JsonConfig& system = *parts->system.json;
  ConfigText text("Calculon");
  const Rates rates = rates_of(system);
  const std::int64_t processors = execution.count("num_procs");
  if (processors < 1) execution.refuse("'num_procs' is 0", "num_procs");
  const auto node = system.is_wrong() ? std::nullopt : nearest_node(rates, catalogue);
  if (node && !execution.is_wrong()) machine(system, rates, *node, processors, text);
  model(application, text);
  text.set("training", "sequence", application.count("seq_size"));
  plan(execution, text);
  ImportedScenario result;
  bool right = node.has_value();
  for (const Part* part : {&parts->application, &parts->execution, &parts->system}) {
    part->json->report(part->file->text, part->file->path, out);
    right = right && !part->json->is_wrong();
    const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(result.inferred, part->json->inferred);
    add(result.defaulted, part->json->defaulted);
    add(result.ignored, part->json->unused());
  }
  if (!right) return std::nullopt;
  result.ignored.emplace_back("efficiencies and latencies of Calculon's system");
  result.toml = text.text();
  return result;
}

} // namespace clustersim
