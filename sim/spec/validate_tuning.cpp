#include "spec/validate_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace clustersim {
namespace {

/// Matrices that this model's layers have.
bool has_matrix(const Transformer& model, Matrix matrix) {
  const bool latent = model.mla.kv_rank > 0;
  switch (matrix) {
  case Matrix::gate:
    return model.gated_mlp;
  case Matrix::value:
    return !latent;
  case Matrix::latent:
    return latent;
  case Matrix::query:
  case Matrix::key:
  case Matrix::output:
  case Matrix::up:
  case Matrix::down:
    return true;
  }
  return false;
}

std::vector<Matrix> meant_by(std::string_view word) {
  using enum Matrix;
  if (word == "attention") return {query, key, value, output, latent};
  if (word == "mlp") return {gate, up, down};
  if (word == "all") return {query, key, value, output, latent, gate, up, down};
  if (const auto one = matrix_from(word)) return {*one};
  return {};
}

class TuningChecks {
public:
  TuningChecks(ScenarioInput& input, const Reading& reading, Diagnostics& out)
      : input_(input), tuning_(input.scenario.training.tuning), model_(input.scenario.model),
        reading_(reading), out_(out) {}

  void all() {
    adapters();
    frozen();
    stored();
    unsupported();
  }

private:
  void adapters() {
    if (tuning_.rank == 0) {
      if (!input_.adapted.empty()) {
        wrong("finetune.targets", "targets of adapters, but their rank is 0", "rank above 0");
      }
      return;
    }
    if (tuning_.rank > model_.hidden) {
      wrong("finetune.rank",
            fmt::format("adapters of rank {} are wider than the hidden size {}", tuning_.rank,
                        model_.hidden),
            fmt::format("at most {}", model_.hidden));
    }
    if (!reading_.has("finetune.targets")) {
      input_.adapted = {"q", model_.mla.kv_rank > 0 ? "k" : "v"};
    }
    for (const std::string& word : input_.adapted)
      target(word);
  }

  void target(const std::string& word) {
    const std::vector<Matrix> meant = meant_by(word);
    if (meant.empty()) {
      return wrong("finetune.targets", fmt::format("no matrix is called '{}'", word.substr(0, 64)),
                   "q, k, v, o, gate, up, down, latent, attention, mlp or all");
    }
    bool any = false;
    for (const Matrix matrix : meant) {
      if (!has_matrix(model_, matrix)) continue;
      any = true;
      if (std::ranges::find(tuning_.targets, matrix) == tuning_.targets.end()) {
        tuning_.targets.push_back(matrix);
      }
    }
    if (!any) {
      wrong("finetune.targets", fmt::format("layers of {} have no matrix '{}'", model_.name, word),
            "another target");
    }
  }

  void frozen() {
    if (tuning_.frozen_layers >= model_.layers) {
      wrong("finetune.frozen_layers",
            fmt::format("{} has {} layers: none would be trained", model_.name, model_.layers),
            fmt::format("at most {}", model_.layers - 1));
    }
    const bool table = model_.tied_embeddings && tuning_.frozen_layers > 0;
    if (table && tuning_.trains_head()) {
      wrong("finetune.frozen_layers",
            "head and embedding share a table, whose other half is below frozen layers",
            "frozen_ends = true");
    }
  }

  void stored() {
    const bool some = tuning_.adapts() || tuning_.frozen_layers > 0;
    if (tuning_.base && !some) {
      wrong("finetune.base", "a storage for frozen matrices, but all are trained",
            "rank or frozen_layers above 0");
    }
  }

  void unsupported() {
    if (tuning_.trains_all()) return;
    const char* key = tuning_.adapts() ? "finetune.rank" : "finetune.frozen_layers";
    if (model_.decoder_layers > 0) {
      wrong(key,
            fmt::format("{} has an encoder and a decoder: only full training of these is timed",
                        model_.name),
            "finetune left out");
    } else if (model_.mtp_layers > 0) {
      wrong(key,
            fmt::format("{} has prediction modules, which are only timed when all is trained",
                        model_.name),
            "model.mtp_layers = 0");
    }
  }

  void wrong(const char* key, std::string message, std::string expected) {
    out_.add(diagnose(reading_.place_of(key), std::move(message), std::move(expected)));
  }

  ScenarioInput& input_;
  FineTuning& tuning_;
  const Transformer& model_;
  const Reading& reading_;
  Diagnostics& out_;
};

} // namespace

std::vector<PlanFault> offload_faults(const Scenario& scenario) {
  const Offload& offload = scenario.plan.offload;
  std::vector<PlanFault> faults;
  if (!offload.any()) return faults;
  if (scenario.cluster.partitions.size() > 1) {
    faults.push_back({"plan.offload.optimizer",
                      "copies to the host are timed on clusters of one kind of node",
                      "nothing offloaded, or one partition"});
    return faults;
  }
  const Node& node = scenario.partition().node;
  const Node::Host& host = node.host;
  if (host.pcie.bandwidth.si() <= 0.0 || host.memory.bandwidth.si() <= 0.0) {
    faults.push_back({"plan.offload.optimizer",
                      fmt::format("{} states no link to a host's memory", node.name),
                      "another node, or nothing offloaded"});
  }
  if (offload.uses(Tier::nvme) && (host.nvme_read.si() <= 0.0 || host.nvme_write.si() <= 0.0)) {
    faults.push_back({"plan.offload.optimizer",
                      fmt::format("{} states no rates of local drives", node.name),
                      "\"host\", or [override.node] host.nvme_read and host.nvme_write"});
  }
  if (offload.parameters != Tier::chip && scenario.plan.zero < 3 && scenario.data_ranks() > 1) {
    faults.push_back({"plan.offload.parameters",
                      "weights are brought in layer by layer only where they are sharded",
                      "zero = 3"});
  }
  return faults;
}

void validate_tuning(ScenarioInput& input, const Reading& reading, Diagnostics& out) {
  TuningChecks(input, reading, out).all();
}

} // namespace clustersim
