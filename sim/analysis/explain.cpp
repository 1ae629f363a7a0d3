#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace clustersim {

namespace {

/// Something that can be made faster, and how the report speaks of it.
struct Resource {
  std::string name;    // "matrix rate"
  std::string bound;   // "bound by the matrix units"
  std::string faster;  // "10 % faster matrix units"; {} takes the percentage
  double spread = 0.0; // of its calibrated speed
  std::function<void(ResourceScale&, double)> speed_up;
};

std::vector<Resource> chip_resources(const Scenario& scenario) {
  const std::string& memory = scenario.chip().memory.type;
  const CalibrationSpread& spread = scenario.chip().kernels.spread;
  return {
      {"matrix rate", "Bound by the matrix units", "{} faster matrix units at the same power",
       spread.matrix, [](ResourceScale& scale, double by) { scale.matrix = by; }},
      {"vector rate", "Bound by the vector units", "{} faster vector units at the same power",
       spread.memory, [](ResourceScale& scale, double by) { scale.vector = by; }},
      {"memory bandwidth", fmt::format("Bound by {} bandwidth", memory),
       "{} more " + memory + " bandwidth", spread.memory,
       [](ResourceScale& scale, double by) { scale.memory = by; }},
      {"L2 bandwidth", "Bound by L2 bandwidth", "{} more L2 bandwidth", spread.memory,
       [](ResourceScale& scale, double by) { scale.l2 = by; }},
      {"kernel launch", "Bound by kernel launches", "{} quicker kernel launches", spread.launch,
       [](ResourceScale& scale, double by) { scale.launch = by; }},
      {"host dispatch", "Bound by the host", "{} quicker host dispatch", spread.launch,
       [](ResourceScale& scale, double by) { scale.host = by; }},
  };
}

/// Link classes that a collective of this step crosses, by id.
std::set<std::string> links_in_use(const Timeline& timeline, const Network& network) {
  std::set<std::string> ids;
  for (const OpRecord& op : timeline.ops) {
    if (op.each.collective.form == nullptr) {
      continue;
    }
    const auto add = [&](LinkClassId link) {
      ids.insert(network.graph.link_classes()[link.at()].id);
    };
    for (const LinkTerm& term : op.each.collective.form->terms) {
      add(term.link_class);
    }
    add(op.each.collective.form->launch_class);
    add(op.each.collective.form->local_class);
  }
  return ids;
}

/// Links between chips and their host, and the memory that its cores stream from.
void add_host_links(const Scenario& scenario, const Timeline& timeline, Network& network,
                    std::set<std::string>& ids) {
  const bool any = std::ranges::any_of(timeline.ops, [](const OpRecord& op) { return op.of_host; });
  if (!any) return;
  for (const bool to_host : {true, false}) {
    for (const HostCopy::Term& term : network.host_copy(to_host).terms)
      ids.insert(term.link);
  }
  ids.insert(scenario.cluster.partitions.front().node.host.memory.id);
}

void add_drives(const Scenario& scenario, std::vector<Resource>& resources) {
  const Offload& offload = scenario.plan.offload;
  if (offload.optimizer != Tier::nvme && offload.parameters != Tier::nvme &&
      offload.activations != Tier::nvme) {
    return;
  }
  constexpr double spread = 0.12; // as links have where none is stated
  resources.push_back(
      {"local drives", "Bound by the node's drives", "{} faster local drives", spread,
       [](ResourceScale& scale, double by) { scale.links[local_drives].bandwidth = by; }});
}

void add_link_resources(const Scenario& scenario, const Timeline& timeline, Network& network,
                        std::vector<Resource>& resources) {
  std::set<std::string> used = links_in_use(timeline, network);
  add_host_links(scenario, timeline, network, used);
  add_drives(scenario, resources);
  for (const Link& link : network.graph.link_classes()) {
    if (!used.contains(link.id)) {
      continue;
    }
    resources.push_back(
        {link.id + " bandwidth", fmt::format("Bound by {} bandwidth", link.name),
         "{} more " + link.name + " bandwidth", link.spread,
         [id = link.id](ResourceScale& scale, double by) { scale.links[id].bandwidth = by; }});
    resources.push_back(
        {link.id + " latency", fmt::format("Bound by {} latency", link.name),
         "{} shorter " + link.name + " latency", link.spread,
         [id = link.id](ResourceScale& scale, double by) { scale.links[id].latency = by; }});
  }
}

class Retimer {
public:
  Retimer(const Scenario& scenario, const StepProgram& program, Network& network)
      : scenario_(&scenario), program_(&program), network_(&network) {}

  [[nodiscard]] Seconds unscaled() const {
    CostModel cost(*scenario_, *network_);
    return step_time(*program_, cost);
  }
  [[nodiscard]] Seconds with(const Resource& resource, double speed_up) const {
    ResourceScale scale;
    resource.speed_up(scale, speed_up);
    CostModel cost(*scenario_, *network_, scale);
    return step_time(*program_, cost);
  }

private:
  const Scenario* scenario_;
  const StepProgram* program_;
  Network* network_;
};

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

/// The sentence follows from the numbers: the steepest slope names the bottleneck, and where
/// doubling would help another resource more, it says so.
std::string verdict(const std::vector<Resource>& by_slope, const std::vector<Elasticity>& slopes,
                    Seconds step, Seconds ten_percent) {
  const Elasticity& first = slopes.front();
  std::string text =
      fmt::format("{}: {} would save {} of the step, twice as much {}.", by_slope.front().bound,
                  fmt::format(fmt::runtime(by_slope.front().faster), "10 %"),
                  percent(1.0 - ten_percent / step), percent(first.doubled));
  const auto best =
      std::max_element(slopes.begin(), slopes.end(), [](const Elasticity& a, const Elasticity& b) {
        return a.doubled < b.doubled;
      });
  if (best->doubled > first.doubled * 1.05) {
    text +=
        fmt::format(" Doubling {} would help more: {}.", best->resource, percent(best->doubled));
  }
  return text;
}

StepRange range_of(Seconds step, const std::vector<Elasticity>& elasticities, double stack) {
  constexpr double deviations = 1.2816; // of a normal distribution, for four fifths of it
  double variance = stack * stack;
  for (const Elasticity& one : elasticities) {
    variance += one.value * one.spread * one.value * one.spread;
  }
  const double factor = std::exp(deviations * std::sqrt(variance));
  return {step / factor, step * factor};
}

std::vector<Resource> resources_of(const Scenario& scenario, Network& network,
                                   const Timeline& timeline) {
  std::vector<Resource> resources = chip_resources(scenario);
  add_link_resources(scenario, timeline, network, resources);
  return resources;
}

/// -∂ln(step)/∂ln(speed), by one percent more of it.
double slope_of(const Resource& resource, Seconds step, const Retimer& retimer) {
  constexpr double nudge = 1.01;
  return std::log(step / retimer.with(resource, nudge)) / std::log(nudge);
}

bool steeper(const Elasticity& a, const Elasticity& b) {
  return a.value > b.value;
}

} // namespace

StepRange step_range(const Scenario& scenario, const StepProgram& program, Network& network,
                     const Timeline& timeline) {
  const Retimer retimer(scenario, program, network);
  const Seconds step = retimer.unscaled();
  std::vector<Elasticity> slopes;
  for (const Resource& resource : resources_of(scenario, network, timeline)) {
    slopes.push_back({resource.name, slope_of(resource, step, retimer), 0.0, resource.spread});
  }
  std::stable_sort(slopes.begin(), slopes.end(), steeper); // one order of addition everywhere
  return range_of(step, slopes, scenario.training.stack.spread);
}

Explanation explain(const Scenario& scenario, const StepProgram& program, Network& network,
                    const Timeline& timeline) {
  constexpr double what_if = 1.10;
  const Retimer retimer(scenario, program, network);
  const Seconds step = retimer.unscaled();

  struct Ranked {
    Resource resource;
    Elasticity slope;
    Seconds ten_percent;
  };
  std::vector<Ranked> ranked;
  for (const Resource& resource : resources_of(scenario, network, timeline)) {
    const double slope = slope_of(resource, step, retimer);
    const double doubled = 1.0 - retimer.with(resource, 2.0) / step;
    const Seconds ten = retimer.with(resource, what_if);
    ranked.push_back({resource, {resource.name, slope, doubled, resource.spread}, ten});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return steeper(a.slope, b.slope); });

  Explanation explanation;
  std::vector<Resource> ordered;
  for (const Ranked& entry : ranked) {
    explanation.elasticities.push_back(entry.slope);
    ordered.push_back(entry.resource);
    explanation.what_ifs.push_back({fmt::format(fmt::runtime(entry.resource.faster), "10 %"),
                                    entry.ten_percent, 1.0 - entry.ten_percent / step});
  }
  explanation.range = range_of(step, explanation.elasticities, scenario.training.stack.spread);
  explanation.resource = ranked.front().slope.resource;
  explanation.verdict =
      verdict(ordered, explanation.elasticities, step, ranked.front().ten_percent);
  std::stable_sort(explanation.what_ifs.begin(), explanation.what_ifs.end(),
                   [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
  return explanation;
}

} // namespace clustersim
