#include "spec/validate.hpp"

#include "base/units.hpp"
#include "spec/check_cluster.hpp"
#include "spec/placement.hpp"
#include "spec/serving_faults.hpp"
#include "spec/validate_plan.hpp"
#include "spec/validate_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace clustersim {
namespace {

constexpr std::int64_t most_chips = 1000000;

class Checks {
public:
  Checks(ScenarioInput& input, const Reading& reading, const Loaded& loaded, Diagnostics& out)
      : input_(input), scenario_(input.scenario), plan_(input.scenario.plan),
        training_(input.scenario.training), reading_(reading), loaded_(loaded), out_(out) {}

  void derive() {
    if (scenario_.serves()) {
      derive_serving(input_, reading_, out_);
    } else if (!reading_.has("training.sequence") && loaded_.model != nullptr) {
      training_.sequence = loaded_.model->sequence_default;
    }
    if (!reading_.has("training.decoder_sequence")) {
      training_.decoder_sequence = training_.sequence;
    }
    if (!reading_.has("training.gradient_dtype") && loaded_.stack != nullptr) {
      training_.gradient_dtype = loaded_.stack->gradient.dtype;
    }
    count_chips();
    place();
  }

  void cluster() {
    check_cluster(input_, reading_, loaded_, out_);
    power();
  }

  void power() {
    std::optional<Watts>& cap = scenario_.power.cap;
    if (!cap) return;
    Watts most; // of all boards; a lower limit of one of them holds there
    for (const Node* node : nodes_) {
      const Chip::Power& board = node->chip.power;
      most = std::max(most, board.tdp);
      if (*cap <= board.idle) {
        wrong("power.cap", "the cap is not above the chip's idle power",
              fmt::format("above {}", format_quantity(board.idle)));
        return;
      }
    }
    if (!nodes_.empty() && *cap > most) {
      warn("power.cap", fmt::format("the cap of {} is above the board's limit of {}, which holds",
                                    format_quantity(*cap), format_quantity(most)));
      cap = most;
    }
  }

  void chips_match() {
    if (chips_ == 0 || !sound({"plan.tensor", "plan.data", "plan.pipeline", "plan.context"})) {
      return;
    }
    const std::int64_t model_chips = std::int64_t{plan_.tensor} * plan_.pipeline * plan_.context;
    const std::int64_t outer = std::int64_t{plan_.pipeline} * plan_.context;
    if (common_chips_ % outer != 0) {
      const bool pipeline = common_chips_ % plan_.pipeline != 0;
      wrong(pipeline ? "plan.pipeline" : "plan.context",
            fmt::format("{} chips cannot be shared out by {}", chips_text(), model_axes()),
            pipeline
                ? "pipeline = " + nearest_divisors(common_chips_, plan_.pipeline)
                : "context = " + nearest_divisors(common_chips_ / plan_.pipeline, plan_.context));
      data_known_ = false;
      return;
    }
    if (common_chips_ % model_chips != 0) {
      wrong("plan.tensor",
            fmt::format("{} chips cannot be shared out by {}", chips_text(), model_axes()),
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
  }

  void micro_batches() {
    if (!reading_.has("training.global_batch") || !data_known_ ||
        !sound({"plan.data", "plan.micro_batch"})) {
      return;
    }
    const std::int64_t batch = training_.global_batch;
    if (several()) return shares(batch);
    const std::int64_t unit = plan_.data * plan_.micro_batch;
    if (batch % unit != 0) {
      const std::int64_t below = batch / unit * unit;
      wrong("training.global_batch",
            fmt::format("global_batch {} is not divisible by data {} x micro_batch {}", batch,
                        plan_.data, plan_.micro_batch),
            below > 0 ? fmt::format("{} or {}", below, below + unit) : fmt::format("{}", unit));
    }
  }

  /// Unlike partitions take unlike shares, each replica one micro-batch at least.
  void shares(std::int64_t batch) {
    const std::int64_t size = plan_.micro_batch, least = plan_.data * size;
    if (batch < least) {
      wrong("training.global_batch",
            fmt::format("global_batch {} leaves some of the {} replicas without a micro-batch",
                        batch, plan_.data),
            fmt::format("at least {}", least));
    } else if (batch % size != 0) {
      wrong("training.global_batch",
            fmt::format("global_batch {} is not divisible by micro_batch {}", batch, size),
            nearest_multiples(size, batch));
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
    for (const Node* node : nodes_) {
      if (tensor > node->chips) {
        return warn("plan.tensor", fmt::format("tensor {} is larger than a node of {} chips: its "
                                               "traffic crosses the fabric",
                                               tensor, node->chips));
      }
      if (node->chips % tensor != 0) {
        return warn("plan.tensor",
                    fmt::format("tensor {} does not divide a node of {} chips: some groups cross "
                                "nodes",
                                tensor, node->chips));
      }
    }
  }

  void precision() {
    if (scenario_.serves()) return; // products take the next path that holds their numbers
    if (!sound({"training.precision"})) return;
    for (const Node* node : nodes_)
      precision_of(node->chip);
  }

  void precision_of(const Chip& chip) {
    if (training_matrix_rate(chip, training_.precision)) {
      return;
    }
    std::string able;
    for (const Precision one : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                Precision::fp8, Precision::fp4, Precision::int8}) {
      if (training_matrix_rate(chip, one)) {
        able += fmt::format("{}\"{}\"", able.empty() ? "" : ", ", name_of(one));
      }
    }
    wrong("training.precision",
          fmt::format("{} has no {} path", chip.name, name_of(training_.precision)),
          able.empty() ? "another chip: none of its formats can train" : able);
  }

  void axes() {
    if (loaded_.model == nullptr || chips_ == 0 || chips_ > most_chips || !data_known_ ||
        !tensor_fits_ ||
        !sound({"plan.tensor",
                "plan.data",
                "plan.pipeline",
                "plan.virtual_stages",
                "plan.schedule",
                "inference.batch",
                "inference.prompt",
                "inference.output",
                "plan.context",
                "plan.context_exchange",
                "plan.hybrid_shard",
                "plan.zero",
                "plan.micro_batch",
                "plan.expert",
                "plan.expert_tensor",
                "training.sequence",
                "finetune.rank",
                "finetune.targets",
                "finetune.frozen_layers",
                "finetune.base"})) {
      return;
    }
    if (scenario_.serves()) training_.global_batch = scenario_.inference.batch * plan_.data;
    const std::int64_t batch = training_.global_batch, size = plan_.micro_batch;
    const bool shared = several() ? batch % size == 0 && batch / size >= plan_.data
                                  : batch % (plan_.data * size) == 0;
    if (!scenario_.serves() && (!reading_.has("training.global_batch") || !shared)) return;
    Scenario& scenario = input_.scenario;
    scenario.model = *loaded_.model;
    validate_tuning(input_, reading_, out_);
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
  void count_chips() {
    for (const Loaded::Part& part : loaded_.parts) {
      if (part.node == nullptr) {
        chips_ = common_chips_ = 0;
        nodes_.clear();
        return;
      }
      nodes_.push_back(part.node);
      const std::int64_t chips = std::int64_t{part.nodes} * part.node->chips;
      chips_ += chips;
      common_chips_ = std::gcd(common_chips_, chips);
    }
    if (!sound({"cluster.nodes"})) chips_ = common_chips_ = 0;
  }
  [[nodiscard]] bool several() const { return loaded_.parts.size() > 1; }
  /// "16", or of several partitions "8 + 16".
  [[nodiscard]] std::string chips_text() const {
    std::string text;
    for (const Loaded::Part& part : loaded_.parts) {
      text += fmt::format("{}{}", text.empty() ? "" : " + ",
                          std::int64_t{part.nodes} * part.node->chips);
    }
    return text;
  }

  void place() {
    if (several()) plan_.placement = replica_placement;
    if (reading_.has("plan.placement")) {
      std::string why;
      if (const auto placement = parse_placement(input_.placement, why)) {
        plan_.placement = *placement;
      } else {
        wrong("plan.placement", why,
              "the axes in order, such as \"" + placement_text(usual_placement) + "\"");
      }
    }
    if (several() && plan_.placement.back() != Axis::data) {
      wrong("plan.placement", "a replica lies inside one partition, so that data comes last",
            "such as \"" + placement_text(replica_placement) + "\"");
    }
    input_.placement = placement_text(plan_.placement);
  }

  /// "tensor 8 x pipeline 2": tensor always, the others where they split.
  [[nodiscard]] std::string model_axes() const {
    std::string out = fmt::format("tensor {}", plan_.tensor);
    if (plan_.pipeline > 1) out += fmt::format(" x pipeline {}", plan_.pipeline);
    if (plan_.context > 1) out += fmt::format(" x context {}", plan_.context);
    return out;
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
    std::int64_t number = common_chips_;
    const std::int64_t others = std::int64_t{plan_.pipeline} * plan_.context;
    if (common_chips_ % others == 0) number = common_chips_ / others;
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
  std::vector<const Node*> nodes_;            // of all partitions
  std::int64_t chips_ = 0, common_chips_ = 0; // of the cluster; what divides every partition
  bool data_known_ = true;
  bool tensor_fits_ = true;
};

} // namespace

void validate(ScenarioInput& input, const Reading& reading, const Loaded& loaded, PlanIs plan,
              Diagnostics& out) {
  Checks checks(input, reading, loaded, out);
  checks.derive();
  checks.cluster();
  checks.precision();
  checks.positions();
  checks.batch();
  if (plan == PlanIs::open) return;
  checks.chips_match();
  checks.micro_batches();
  checks.sharding();
  checks.axes();
}

} // namespace clustersim
