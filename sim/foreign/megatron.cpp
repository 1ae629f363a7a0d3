// Megatron-LM's command line (megatron/training/arguments.py): names and defaults are its own.

#include "foreign/imported_scenario.hpp"
#include "foreign/megatron_arguments.hpp"

#include "base/text.hpp"
#include "spec/transformer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace clustersim {
namespace {

using Args = MegatronArguments;

struct Sizes {
  std::int64_t layers = 0, hidden = 0, heads = 0;
  std::int64_t tensor = 1, pipeline = 1, context = 1;
};

std::int64_t required(Args& args, const std::string& name) {
  if (!args.has(name)) args.wrong(name, "'--" + name + "' is missing", "an argument of the model");
  const std::int64_t value = args.count(name).value_or(1);
  if (value < 1) args.wrong(name, "--" + name + " is 0", "at least 1");
  return std::max<std::int64_t>(value, 1);
}

void set_count(Args& args, ConfigText& out, const char* section, const char* key,
               const std::string& name) {
  if (const auto value = args.count(name)) out.set(section, key, *value);
}

/// Sizes of tokenizers whose files are not at hand.
std::int64_t vocabulary(Args& args, std::int64_t tensor) {
  if (const auto padded = args.count("padded-vocab-size")) return *padded;
  const std::string tokenizer = args.text("tokenizer-type");
  struct Known {
    const char* name;
    std::int64_t words;
  };
  constexpr std::array known{Known{"GPT2BPETokenizer", 50257}, Known{"Llama2Tokenizer", 32000},
                             Known{"BertWordPieceLowerCase", 30522}};
  std::optional<std::int64_t> words = args.count("vocab-size");
  if (words && tokenizer == "NullTokenizer") *words += 1; // one word for the end of a document
  for (const Known& one : known) {
    if (!words && tokenizer == one.name) {
      words = one.words;
      args.inferred.push_back(fmt::format("vocabulary of {}: {}", one.name, one.words));
    }
  }
  if (!words) {
    words = 50257;
    args.defaulted.emplace_back("vocabulary = 50257 (GPT-2's): no --vocab-size");
  }
  const std::int64_t multiple =
      std::max<std::int64_t>(args.count("make-vocab-size-divisible-by", 128), 1) * tensor;
  return (*words + multiple - 1) / multiple * multiple;
}

void positions(Args& args, ConfigText& out, std::int64_t sequence) {
  const bool rotary = args.has("use-rotary-position-embeddings");
  const std::string kind = args.text("position-embedding-type");
  const std::int64_t rows = args.count("max-position-embeddings", sequence);
  if (rotary || kind == "rope" || kind == "yarn" || kind == "mrope") {
    out.set("model", "position", "rotary");
  } else if (kind == "none") {
    out.set("model", "position", "none");
  } else if (kind.empty() || kind == "learned_absolute") {
    if (kind.empty()) args.defaulted.emplace_back("--position-embedding-type = learned_absolute");
    out.set("model", "position", "learned");
    out.set("model", "max_positions", std::max(rows, sequence));
  } else {
    args.wrong("position-embedding-type", "these positions cannot be said here",
               "learned_absolute, rope or none");
  }
}

void attention(Args& args, ConfigText& out) {
  const std::int64_t groups = args.count("num-query-groups").value_or(1);
  const bool grouped = args.has("group-query-attention");
  if (grouped) out.set("model", "kv_heads", groups);
  const bool bias = !args.has("disable-bias-linear");
  out.set("model", "attention_bias", bias || args.has("add-qkv-bias"));
  out.set("model", "projection_bias", bias);
  out.set("model", "mlp_bias", bias);
  if (args.has("qk-layernorm")) out.set("model", "qk_norm", "head");
  if (args.has("window-size")) {
    const std::string size = args.text("window-size"); // "W,0" or "(W, 0)"
    const std::size_t digit = size.find_first_of("0123456789");
    const std::string number =
        digit == std::string::npos
            ? ""
            : size.substr(digit, size.find_first_not_of("0123456789", digit) - digit);
    if (number.empty() || number.size() > 9) {
      args.wrong("window-size", "--window-size names no window", "such as 4096,0");
    } else {
      out.set("model", "window", std::int64_t{std::stol(number)} + 1); // keys before, and itself
    }
  }
  if (!args.has("multi-latent-attention")) {
    set_count(args, out, "model", "head_dim", "kv-channels");
    return;
  }
  args.use("kv-channels");
  out.set("model.mla", "kv_rank", args.count("kv-lora-rank", 512));
  set_count(args, out, "model.mla", "q_rank", "q-lora-rank");
  out.set("model.mla", "nope_dim", args.count("qk-head-dim", 128));
  out.set("model.mla", "rope_dim", args.count("qk-pos-emb-head-dim", 64));
  out.set("model.mla", "value_dim", args.count("v-head-dim", 128));
}

/// "2", or Python's "[0]*3+[1]*58" or "([0]*3+[1]*58)": which layers have experts.
std::optional<std::vector<std::int64_t>> layer_pattern(const std::string& text,
                                                       std::int64_t layers) {
  std::vector<std::int64_t> flags;
  std::size_t at = 0;
  const auto number = [&]() -> std::int64_t {
    std::int64_t value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 100000)
      value = 10 * value + (text[at++] - '0');
    return value;
  };
  while (at < text.size() && flags.size() <= static_cast<std::size_t>(layers)) {
    if (text[at] != '[') {
      ++at;
      continue;
    }
    std::vector<std::int64_t> group;
    for (++at; at < text.size() && text[at] != ']'; ++at) {
      if (text[at] == '0' || text[at] == '1') group.push_back(text[at] - '0');
    }
    std::int64_t times = 1;
    const std::size_t star = text.find_first_not_of(" ", std::min(at + 1, text.size()));
    if (star != std::string::npos && text[star] == '*') {
      at = star + 1;
      times = number();
    }
    for (std::int64_t i = 0; i < std::min(times, layers); ++i)
      flags.insert(flags.end(), group.begin(), group.end());
  }
  if (flags.size() != static_cast<std::size_t>(layers)) return std::nullopt;
  return flags;
}

void expert_layers_of(Args& args, ConfigText& out, std::int64_t layers) {
  if (!args.has("moe-layer-freq")) return;
  const std::string text = args.text("moe-layer-freq");
  if (text.find('[') == std::string::npos) {
    const std::int64_t every = args.count("moe-layer-freq").value_or(1);
    // The first layer has experts, then every so many.
    std::vector<std::int64_t> dense;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(layers, 10000) && every > 1; ++i) {
      if (i % every != 0) dense.push_back(i);
    }
    if (!dense.empty()) out.set("model.moe", "dense_layers", dense);
    return;
  }
  const auto flags = layer_pattern(text, layers);
  if (!flags) {
    return args.wrong("moe-layer-freq", "--moe-layer-freq does not name each layer once",
                      "a number, or a list such as [0]*3+[1]*58");
  }
  std::vector<std::int64_t> dense;
  for (std::size_t i = 0; i < flags->size(); ++i) {
    if ((*flags)[i] == 0) dense.push_back(static_cast<std::int64_t>(i));
  }
  if (!dense.empty()) out.set("model.moe", "dense_layers", dense);
}

void experts(Args& args, ConfigText& out, const Sizes& sizes) {
  const std::int64_t count = args.count("num-experts").value_or(0);
  if (count == 0) return;
  out.set("model.moe", "experts", count);
  out.set("model.moe", "top_k", args.count("moe-router-topk", 2));
  set_count(args, out, "model.moe", "ffn_hidden", "moe-ffn-hidden-size");
  if (const auto shared = args.count("moe-shared-expert-intermediate-size")) {
    out.set("model.moe", "shared_ffn_hidden", *shared);
    if (args.has("moe-shared-expert-gate")) out.set("model.moe", "shared_gate", true);
  }
  if (args.number("moe-expert-capacity-factor").value_or(0) > 0) {
    args.inferred.emplace_back("no capacity factor: set model.moe.capacity_factor by hand");
  }
  expert_layers_of(args, out, sizes.layers);
}

std::int64_t mlp_width(Args& args, bool gated, std::int64_t hidden) {
  if (const auto given = args.count("ffn-hidden-size")) return *given;
  const std::int64_t width = gated ? hidden * 8 / 3 / 64 * 64 : 4 * hidden;
  args.defaulted.push_back(fmt::format("--ffn-hidden-size = {}", width));
  return width;
}

void model(Args& args, ConfigText& out, const Sizes& sizes, std::int64_t sequence) {
  const bool gated = args.has("swiglu");
  const bool rms = args.text("normalization") == "RMSNorm";
  out.set("model", "layers", sizes.layers);
  out.set("model", "hidden", sizes.hidden);
  out.set("model", "heads", sizes.heads);
  out.set("model", "ffn_hidden", mlp_width(args, gated, sizes.hidden));
  out.set("model", "vocabulary", vocabulary(args, sizes.tensor));
  out.set("model", "sequence_default", sequence);
  out.set("model", "gated_mlp", gated);
  out.set("model", "activation", gated ? "silu" : args.has("squared-relu") ? "relu" : "gelu");
  out.set("model", "norm", rms ? "rms" : "layer");
  out.set("model", "tied_embeddings", !args.has("untie-embeddings-and-output-weights"));
  positions(args, out, sequence);
  set_count(args, out, "model", "mtp_layers", "mtp-num-layers");
  attention(args, out);
  experts(args, out, sizes);
}

const char* precision(Args& args) {
  const bool eight = args.has("fp8-format") || args.has("fp8-hybrid") || args.has("fp8-e4m3");
  if (args.has("fp4-format")) {
    args.wrong("fp4-format", "training in FP4 cannot be said here", "--fp8-format or --bf16");
  }
  if (eight) {
    args.use("bf16");
    return "fp8";
  }
  if (args.has("bf16")) return "bf16";
  if (args.has("fp16")) return "fp16";
  args.defaulted.emplace_back("precision = fp32: neither --bf16 nor --fp16");
  return "fp32";
}

void training(Args& args, ConfigText& out, std::int64_t sequence, std::int64_t replicas) {
  const std::int64_t micro = args.count("micro-batch-size", 1);
  out.set("training", "sequence", sequence);
  out.set("training", "global_batch",
          args.count("global-batch-size", std::max<std::int64_t>(micro * replicas, 1)));
  const std::string kind = precision(args);
  out.set("training", "precision", kind);
  if (args.has("grad-reduce-in-bf16")) {
    out.set("training", "gradient_dtype", "bf16");
  } else if (args.has("accumulate-allreduce-grads-in-fp32") || kind == "bf16" || kind == "fp8") {
    out.set("training", "gradient_dtype", "fp32");
  }
  const std::string optimizer = args.text("optimizer");
  if (!optimizer.empty() && optimizer != "adam" && optimizer != "sgd") {
    args.wrong("optimizer", "--optimizer is neither adam nor sgd", "adam or sgd");
  }
  out.set("training", "optimizer", optimizer == "sgd" ? "sgd" : "adamw");
  const auto dropped = [&](const char* name) { return args.number(name).value_or(0.1) > 0; };
  out.set("training", "dropout", dropped("attention-dropout") || dropped("hidden-dropout"));
  out.set("training", "stack", "megatron-core-2024");
  args.defaulted.emplace_back("stack = megatron-core-2024");
}

void recompute(Args& args, ConfigText& out) {
  const std::string granularity = args.text("recompute-granularity");
  const bool selective = granularity == "selective" || args.has("recompute-activations") ||
                         args.has("checkpoint-activations");
  if (granularity == "full") {
    out.set("plan", "recompute", "full");
  } else if (selective) {
    out.set("plan", "recompute", "selective");
  } else if (!granularity.empty()) {
    args.wrong("recompute-granularity", "--recompute-granularity is unknown", "full or selective");
  }
}

void stages(Args& args, ConfigText& out, const Sizes& sizes) {
  out.set("plan", "pipeline", sizes.pipeline);
  if (const auto each = args.count("num-layers-per-virtual-pipeline-stage")) {
    const std::int64_t per_stage = sizes.layers / sizes.pipeline;
    if (*each < 1 || per_stage % *each != 0) {
      args.wrong("num-layers-per-virtual-pipeline-stage",
                 fmt::format("{} layers of a stage do not divide into such chunks", per_stage),
                 "a divisor");
    } else {
      out.set("plan", "virtual_stages", per_stage / *each);
    }
  } else {
    set_count(args, out, "plan", "virtual_stages", "num-virtual-stages-per-pipeline-rank");
  }
  if (args.has("account-for-embedding-in-pipeline-split") &&
      args.has("account-for-loss-in-pipeline-split")) {
    out.set("plan", "ends_as_layers", true);
  }
}

void plan(Args& args, ConfigText& out, const Sizes& sizes) {
  out.set("plan", "tensor", sizes.tensor);
  stages(args, out, sizes);
  out.set("plan", "context", sizes.context);
  const std::string exchange = args.text("cp-comm-type");
  if (exchange == "a2a") out.set("plan", "context_exchange", "ulysses");
  if (exchange == "allgather") out.set("plan", "context_exchange", "all-gather");
  set_count(args, out, "plan", "expert", "expert-model-parallel-size");
  set_count(args, out, "plan", "expert_tensor", "expert-tensor-parallel-size");
  out.set("plan", "sequence_parallel", args.has("sequence-parallel") && sizes.tensor > 1);
  const std::string sharding = args.text("data-parallel-sharding-strategy");
  const std::int64_t zero = sharding == "optim_grads_params"        ? 3
                            : sharding == "optim_grads"             ? 2
                            : args.has("use-distributed-optimizer") ? 1
                                                                    : 0;
  out.set("plan", "zero", zero);
  out.set("plan", "micro_batch", args.count("micro-batch-size").value_or(1));
  recompute(args, out);
}

/// Ranks of one replica, or of as many as the experts are dealt out over.
std::int64_t ranks_together(Args& args, const Sizes& sizes) {
  constexpr std::int64_t most = 1000000;
  const auto share = [&](const char* name, std::int64_t otherwise) {
    return std::clamp<std::int64_t>(args.count(name).value_or(otherwise), 1, most);
  };
  const std::int64_t usual = args.has("num-experts") ? sizes.tensor : 1;
  const std::int64_t experts =
      share("expert-model-parallel-size", 1) * share("expert-tensor-parallel-size", usual);
  const std::int64_t dense = sizes.tensor * sizes.context;
  const bool few = experts <= most && dense <= most;
  const std::int64_t together = few ? sizes.pipeline * std::lcm(dense, experts) : most + 1;
  if (together <= most) return together;
  args.wrong("tensor-model-parallel-size", "the axes need more ranks than can be timed",
             "at most 1,000,000");
  return 1;
}

/// Chips of the job, of a node; what the script does not say is guessed and listed.
std::int64_t cluster(Args& args, ConfigText& out, const Sizes& sizes) {
  auto per_node = args.count("nproc-per-node");
  if (!per_node) per_node = args.variable({"GPUS_PER_NODE", "NPROC_PER_NODE", "NUM_GPUS_PER_NODE"});
  auto nodes = args.count("nnodes");
  if (!nodes) nodes = args.variable({"NNODES", "NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  const std::int64_t together = ranks_together(args, sizes);
  if (!per_node) args.defaulted.emplace_back("8 chips per node");
  const std::int64_t chips = std::clamp<std::int64_t>(per_node.value_or(8), 1, 1024);
  if (!nodes) {
    nodes = std::lcm(together, chips) / chips;
    args.defaulted.push_back(fmt::format("{} nodes: as many as one replica fills", *nodes));
  }
  args.defaulted.emplace_back("node = dgx-h100, fabric = rail-optimized-ndr: arguments name no "
                              "machine");
  out.set("cluster", "node", "dgx-h100");
  out.set("cluster", "nodes", *nodes);
  if (*nodes > 1) out.set("cluster", "fabric", "rail-optimized-ndr");
  if (chips != 8) out.set("override.node.\"dgx-h100\"", "node.chips", chips);
  return *nodes * chips;
}

} // namespace

std::optional<ImportedScenario> import_megatron(const ForeignFile& file, Diagnostics& out) {
  Args args(file, out);
  if (args.empty()) {
    args.wrong("num-layers", "there is no argument of the form --name", "Megatron-LM's arguments");
    return std::nullopt;
  }
  Sizes sizes;
  sizes.layers = required(args, "num-layers");
  sizes.hidden = required(args, "hidden-size");
  sizes.heads = required(args, "num-attention-heads");
  const auto axis = [&](const char* name) {
    const std::int64_t ranks = args.count(name).value_or(1);
    constexpr std::int64_t most = 100000;
    if (ranks < 1 || ranks > most) args.wrong(name, "no such number of ranks", "1 to 100,000");
    return std::clamp<std::int64_t>(ranks, 1, most);
  };
  sizes.tensor = axis("tensor-model-parallel-size");
  sizes.pipeline = axis("pipeline-model-parallel-size");
  sizes.context = axis("context-parallel-size");
  const std::int64_t sequence = required(args, "seq-length");
  ConfigText text("Megatron-LM arguments");
  const std::int64_t chips = cluster(args, text, sizes);
  model(args, text, sizes, sequence);
  training(args, text, sequence,
           std::max<std::int64_t>(chips / (sizes.tensor * sizes.pipeline * sizes.context), 1));
  plan(args, text, sizes);
  if (args.is_wrong()) return std::nullopt;
  return ImportedScenario{text.text(), args.inferred, args.defaulted, args.unused()};
}

} // namespace clustersim
