#include "spec/validate.hpp"

#include "base/units.hpp"
#include "spec/check_shapes.hpp"
#include "spec/serving_faults.hpp"
#include "spec/validate_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace clustersim {
namespace {

class Checks {
public:
  Checks(ScenarioInput& input, const Reading& reading, const Loaded& loaded, Diagnostics& out)
      : input_(input), scenario_(input.scenario), plan_(input.scenario.plan),
        training_(input.scenario.training), reading_(reading), loaded_(loaded), out_(out) {}

  void derive() {
    if (scenario_.serves()) derive_serving();
    if (!scenario_.serves() && !reading_.has("training.sequence") && loaded_.model != nullptr) {
      training_.sequence = loaded_.model->sequence_default;
    }
    if (!scenario_.serves() && !reading_.has("training.decoder_sequence")) {
      training_.decoder_sequence = training_.sequence;
    }
    if (!reading_.has("training.gradient_dtype") && loaded_.stack != nullptr) {
      training_.gradient_dtype = loaded_.stack->gradient.dtype;
    }
    if (sound({"cluster.nodes"}) && loaded_.node != nullptr) {
      chips_ = std::int64_t{input_.nodes} * loaded_.node->chips;
    }
  }

  void cluster() {
    constexpr std::int64_t most_chips = 1000000;
    if (chips_ > most_chips) {
      wrong("cluster.nodes", fmt::format("the cluster has {} chips", chips_), "at most 1,000,000");
    }
    const bool several = sound({"cluster.nodes"}) && input_.nodes > 1;
    if (several && sound({"cluster.fabric"}) && input_.fabric.empty()) {
      wrong("cluster.nodes", fmt::format("{} nodes, but no fabric joins them", input_.nodes),
            "a cluster.fabric, or one node");
    }
    if (several && loaded_.fabric != nullptr && loaded_.node != nullptr) {
      const Partition partition{*loaded_.node, input_.nodes, *loaded_.fabric};
      for (const ShapeProblem& problem : shape_problems(partition)) {
        wrong("cluster.fabric", problem.message, problem.expected);
      }
    }
    if (several && loaded_.fabric != nullptr && loaded_.fabric->shape == "none") {
      wrong("cluster.fabric", fmt::format("{} nodes, but this fabric joins none", input_.nodes),
            "a fabric of another shape, or one node");
    }
    if (several && loaded_.node != nullptr && loaded_.node->nics.count == 0) {
      wrong("cluster.node", "several nodes, but this node has no network card",
            "a node with [nic], or one node");
    }
    power();
  }

  void power() {
    std::optional<Watts>& cap = scenario_.power.cap;
    if (!cap || loaded_.node == nullptr) {
      return;
    }
    const Chip::Power& board = loaded_.node->chip.power;
    if (*cap <= board.idle) {
      wrong("power.cap", "the cap is not above the chip's idle power",
            fmt::format("above {}", format_quantity(board.idle)));
    } else if (*cap > board.tdp) {
      warn("power.cap", fmt::format("the cap of {} is above the board's limit of {}, which holds",
                                    format_quantity(*cap), format_quantity(board.tdp)));
      cap = board.tdp;
    }
  }

  void chips_match() {
    if (chips_ == 0 || !sound({"plan.tensor", "plan.data", "plan.pipeline", "plan.context"})) {
      return;
    }
    const std::int64_t model_chips = std::int64_t{plan_.tensor} * plan_.pipeline * plan_.context;
    const std::int64_t outer = std::int64_t{plan_.pipeline} * plan_.context;
    if (chips_ % outer != 0) {
      const bool pipeline = chips_ % plan_.pipeline != 0;
      wrong(pipeline ? "plan.pipeline" : "plan.context",
            fmt::format("{} chips cannot be shared out by {}", chips_, model_axes()),
            pipeline ? "pipeline = " + nearest_divisors(chips_, plan_.pipeline)
                     : "context = " + nearest_divisors(chips_ / plan_.pipeline, plan_.context));
      data_known_ = false;
      return;
    }
    if (chips_ % model_chips != 0) {
      wrong("plan.tensor", fmt::format("{} chips cannot be shared out by {}", chips_, model_axes()),
            feasible_tensor());
      tensor_fits_ = false;
      data_known_ = false;
      return;
    }
    const std::int64_t fitting = chips_ / model_chips;
    if (!reading_.has("plan.data")) {
      plan_.data = static_cast<int>(fitting);
    } else if (plan_.data != fitting) {
      wrong("plan.data",
            fmt::format("{} x data {} makes {} chips, but the cluster has {}", model_axes(),
                        plan_.data, model_chips * plan_.data, chips_),
            fmt::format("data = {}", fitting),
            fmt::format("set data = {}, or leave it out", fitting));
      data_known_ = false;
    }
  }

  void batch() {
    constexpr std::int64_t most_tokens = 1000000000000;
    if (!reading_.has("training.global_batch") || !sound({"training.sequence"})) {
      return;
    }
    const std::int64_t batch = training_.global_batch;
    if (training_.sequence > most_tokens / batch) {
      wrong("training.global_batch", "a step of more than a million million tokens",
            fmt::format("at most {} sequences", most_tokens / training_.sequence));
    }
    if (!sound({"plan.data", "plan.micro_batch"}) || !data_known_) {
      return;
    }
    const std::int64_t unit = plan_.data * plan_.micro_batch;
    if (batch % unit != 0) {
      const std::int64_t below = batch / unit * unit;
      wrong("training.global_batch",
            fmt::format("global_batch {} is not divisible by data {} x micro_batch {}", batch,
                        plan_.data, plan_.micro_batch),
            below > 0 ? fmt::format("{} or {}", below, below + unit) : fmt::format("{}", unit));
    }
  }

  void sharding() {
    if (!sound({"plan.tensor"})) {
      return;
    }
    const std::int64_t tensor = plan_.tensor;
    if (loaded_.model != nullptr) {
      model_sharding(*loaded_.model, tensor);
    }
    if (plan_.sequence_parallel && tensor == 1) {
      wrong("plan.sequence_parallel", "sequence_parallel splits along tensor, which is 1",
            "sequence_parallel = false, or tensor above 1");
    } else if (plan_.sequence_parallel && sound({"training.sequence"}) && training_.sequence > 0 &&
               training_.sequence % tensor != 0) {
      wrong("training.sequence",
            fmt::format("sequence {} is not divisible by tensor {}, as sequence_parallel needs",
                        training_.sequence, tensor),
            fmt::format("a multiple of {}", tensor));
    }
    if (!tensor_fits_) {
      return; // whatever else there is to say about it
    }
    if (loaded_.node != nullptr && tensor > loaded_.node->chips) {
      warn(
          "plan.tensor",
          fmt::format("tensor {} is larger than a node of {} chips: its traffic crosses the fabric",
                      tensor, loaded_.node->chips));
    } else if (loaded_.node != nullptr && loaded_.node->chips % tensor != 0) {
      warn("plan.tensor",
           fmt::format("tensor {} does not divide a node of {} chips: some groups cross nodes",
                       tensor, loaded_.node->chips));
    }
  }

  void precision() {
    if (scenario_.serves()) return; // products take the next path that holds their numbers
    if (loaded_.node == nullptr || !sound({"training.precision"})) {
      return;
    }
    const Chip& chip = loaded_.node->chip;
    if (training_matrix_rate(chip, training_.precision)) {
      return;
    }
    std::string able;
    for (const Precision one :
         {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
      if (training_matrix_rate(chip, one)) {
        able += fmt::format("{}\"{}\"", able.empty() ? "" : ", ", name_of(one));
      }
    }
    wrong("training.precision",
          fmt::format("{} has no {} path", chip.name, name_of(training_.precision)),
          able.empty() ? "another chip: none of its formats can train" : able);
  }

  void axes() {
    if (loaded_.model == nullptr || chips_ == 0 || !data_known_ || !tensor_fits_ ||
        !sound({"plan.tensor", "plan.data", "plan.pipeline", "plan.virtual_stages", "plan.schedule",
                "inference.batch", "inference.prompt", "inference.output", "plan.context",
                "plan.context_exchange", "plan.hybrid_shard", "plan.zero", "plan.micro_batch",
                "plan.expert", "plan.expert_tensor", "training.sequence"})) {
      return;
    }
    const std::int64_t unit = plan_.data * plan_.micro_batch;
    if (scenario_.serves()) {
      training_.global_batch = scenario_.inference.batch * plan_.data;
    } else if (!reading_.has("training.global_batch") || training_.global_batch % unit != 0) {
      return;
    }
    Scenario& scenario = input_.scenario;
    scenario.model = *loaded_.model;
    validate_plan_axes(scenario, reading_, out_);
    if (scenario.serves()) {
      for (const PlanFault& fault : serving_faults(scenario)) {
        wrong(fault.key, fault.message, fault.expected);
      }
    }
  }

  void positions() {
    const Transformer* model = loaded_.model;
    if (model == nullptr || !sound({"training.sequence"}) ||
        model->position != PositionKind::learned || training_.sequence <= model->max_positions) {
      return;
    }
    wrong(scenario_.serves() ? "inference.prompt" : "training.sequence",
          fmt::format("sequence {} is longer than the {} learned positions of {}",
                      training_.sequence, model->max_positions, model->name),
          fmt::format("at most {}", model->max_positions));
  }

private:
  /// "tensor 8 x pipeline 2": tensor always, the others where they split.
  [[nodiscard]] std::string model_axes() const {
    std::string out = fmt::format("tensor {}", plan_.tensor);
    if (plan_.pipeline > 1) out += fmt::format(" x pipeline {}", plan_.pipeline);
    if (plan_.context > 1) out += fmt::format(" x context {}", plan_.context);
    return out;
  }

  /// What lowering reads as the training of it: prompts are its sequences.
  void derive_serving() {
    Inference& serving = scenario_.inference;
    if (!reading_.has("inference.weights")) serving.weights = serving.precision;
    if (!reading_.has("inference.kv_cache")) {
      serving.kv_cache =
          bytes_per_element(serving.precision) <= Bytes{1} ? Precision::bf16 : serving.precision;
    }
    training_.sequence = serving.prompt;
    training_.decoder_sequence = serving.prompt;
    training_.precision = serving.precision;
    plan_.micro_batch = serving.batch;
    for (const char* key :
         {"training.sequence", "training.global_batch", "training.precision", "training.stack",
          "plan.micro_batch", "plan.zero", "plan.recompute", "plan.schedule", "plan.virtual_stages",
          "plan.sequence_parallel", "plan.hybrid_shard"}) {
      if (reading_.has(key)) {
        wrong(key, fmt::format("'{}' belongs to training, and [inference] asks about serving", key),
              "one of both");
      }
    }
  }

  void model_sharding(Transformer& model, std::int64_t tensor) {
    const std::int64_t heads = std::gcd(model.heads, model.kv_heads);
    tensor_fits_ = tensor_fits_ && heads % tensor == 0;
    if (heads % tensor != 0) {
      const bool queries = model.heads % tensor != 0;
      wrong("plan.tensor",
            fmt::format("{} {} of {} are not divisible by tensor {}",
                        queries ? model.heads : model.kv_heads, queries ? "heads" : "kv_heads",
                        model.name, tensor),
            feasible_tensor());
    } else if (model.ffn_hidden % tensor != 0) {
      wrong("plan.tensor",
            fmt::format("ffn_hidden {} of {} is not divisible by tensor {}", model.ffn_hidden,
                        model.name, tensor),
            feasible_tensor());
    }
    const std::int64_t padded = padded_vocabulary(model.vocabulary, tensor);
    if (padded != model.vocabulary) {
      scenario_.assumptions.push_back(
          fmt::format("the vocabulary is padded from {} to {} rows, a multiple of 128 x tensor",
                      model.vocabulary, padded));
      model.vocabulary = padded;
    }
  }

  // The nearest values of tensor that chips, heads and MLP all allow.
  [[nodiscard]] std::string feasible_tensor() const {
    std::int64_t number = chips_;
    const std::int64_t others = std::int64_t{plan_.pipeline} * plan_.context;
    if (chips_ % others == 0) number = chips_ / others;
    if (const Transformer* model = loaded_.model) {
      number =
          std::gcd(number, std::gcd(model->ffn_hidden, std::gcd(model->heads, model->kv_heads)));
    }
    return "tensor = " + nearest_divisors(number, plan_.tensor);
  }

  [[nodiscard]] bool sound(std::initializer_list<const char*> keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const char* key) { return reading_.sound(key); });
  }
  void wrong(const std::string& key, std::string message, std::string expected,
             std::string suggestion = {}) {
    out_.add(diagnose(reading_.place_of(key), std::move(message), std::move(expected),
                      std::move(suggestion)));
  }
  void warn(const std::string& key, const std::string& message) {
    out_.add(diagnose(reading_.place_of(key), message, "", "", Severity::warning));
    scenario_.warnings.push_back(message);
  }

  ScenarioInput& input_;
  Scenario& scenario_;
  Plan& plan_;
  Training& training_;
  const Reading& reading_;
  const Loaded& loaded_;
  Diagnostics& out_;
  std::int64_t chips_ = 0;
  bool data_known_ = true;
  bool tensor_fits_ = true;
};

} // namespace

void validate(ScenarioInput& input, const Reading& reading, const Loaded& loaded,
              Diagnostics& out) {
  Checks checks(input, reading, loaded, out);
  checks.derive();
  checks.cluster();
  checks.chips_match();
  checks.batch();
  checks.sharding();
  checks.precision();
  checks.positions();
  checks.axes();
}

} // namespace clustersim
