#include "spec/plan_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace clustersim {
namespace {

/// As given where it can be: too few or too many layers go to or from the last stages. Of the wrong
/// number of stages: an even split.
std::string nearest_split(std::vector<std::int64_t> split, std::int64_t layers,
                          std::int64_t places) {
  if (static_cast<std::int64_t>(split.size()) != places) {
    split.assign(static_cast<std::size_t>(places), layers / places);
    for (std::int64_t i = 0; i < layers % places; ++i)
      ++split[static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 1; i + 1 < split.size(); ++i)
    split[i] = std::max<std::int64_t>(split[i], 1);
  std::int64_t missing = layers - std::accumulate(split.begin(), split.end(), std::int64_t{0});
  for (std::size_t i = split.size(); i-- > 0 && missing != 0;) {
    const bool inner = i > 0 && i + 1 < split.size();
    const std::int64_t moved = std::max(missing, (inner ? 1 : 0) - split[i]);
    split[i] += moved;
    missing -= moved;
  }
  return fmt::format("[{}]", fmt::join(split, ", "));
}

} // namespace

void add_layer_split_faults(const Scenario& scenario, std::vector<PlanFault>& faults) {
  const Plan& plan = scenario.plan;
  const std::vector<std::int64_t>& given = plan.stage_layers;
  if (given.empty()) return;
  const std::int64_t layers = scenario.model.layers + scenario.model.decoder_layers;
  const std::int64_t places = std::int64_t{plan.pipeline} * plan.virtual_stages;
  const auto refuse = [&](const std::string& message) {
    faults.push_back(
        {"plan.stage_layers", message, "such as " + nearest_split(given, layers, places)});
  };
  if (static_cast<std::int64_t>(given.size()) != places) {
    return refuse(fmt::format("{} shares for {} stages", given.size(), places));
  }
  const std::int64_t sum = std::accumulate(given.begin(), given.end(), std::int64_t{0});
  if (sum != layers) {
    return refuse(
        fmt::format("the stages hold {} layers, and {} has {}", sum, scenario.model.name, layers));
  }
  for (std::size_t i = 1; i + 1 < given.size(); ++i) {
    if (given[i] == 0) return refuse(fmt::format("stage {} has nothing to do", i));
  }
  if (plan.ends_as_layers) {
    faults.push_back(
        {"plan.ends_as_layers", "stage_layers says where the layers go", "ends_as_layers = false"});
  }
}

void add_token_faults(const Scenario& scenario, std::vector<PlanFault>& faults) {
  const Training& training = scenario.training;
  const Transformer& model = scenario.model;
  const auto wrong = [&](const char* key, std::string message, std::string expected) {
    faults.push_back({key, std::move(message), std::move(expected)});
  };
  const std::int64_t document = training.document.value_or(training.sequence);
  const bool packed = document < training.sequence;
  if (training.sequence % document != 0) {
    wrong("training.document",
          fmt::format("documents of {} tokens do not fill a sequence of {}", document,
                      training.sequence),
          "document = " + nearest_divisors(training.sequence, document));
  } else if (packed && scenario.plan.context > 1) {
    wrong("plan.context", "packed documents are not shared out over a context axis",
          "context = 1, or training.document left out");
  } else if (packed && model.decoder_layers > 0) {
    wrong("training.document",
          fmt::format("{} has an encoder, which takes no packed documents", model.name),
          "training.document left out");
  }
  const std::int64_t target =
      model.decoder_layers > 0 ? training.decoder_sequence : training.sequence;
  const std::int64_t most = scenario.plan.micro_batch * (target / scenario.plan.context);
  if (training.loss_chunks > std::max<std::int64_t>(most, 1)) {
    wrong("training.loss_chunks", "more pieces than a micro-batch has tokens on a rank",
          fmt::format("at most {}", most));
  }
}

} // namespace clustersim
