#include "analysis/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Of several chips the widest spread.
CalibrationSpread spread_of(const Job& job) {
  CalibrationSpread spread = job.parts.front().scenario.chip().kernels.spread;
  for (const JobPart& part : job.parts) {
    const CalibrationSpread& own = part.scenario.chip().kernels.spread;
    spread.matrix = std::max(spread.matrix, own.matrix);
    spread.memory = std::max(spread.memory, own.memory);
    spread.launch = std::max(spread.launch, own.launch);
  }
  return spread;
}

/// "HBM3", or of several "GDDR6 and HBM3".
std::string memory_of(const Job& job) {
  std::vector<std::string> types;
  for (const JobPart& part : job.parts) {
    const std::string& type = part.scenario.chip().memory.type;
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return fmt::format("{}", fmt::join(types, " and "));
}

std::vector<Resource> chip_resources(const Job& job) {
  const std::string memory = memory_of(job);
  const CalibrationSpread spread = spread_of(job);
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
void add_links_in_use(const Timeline& timeline, const Network& network,
                      std::set<std::string>& ids) {
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
}

bool copies_to_host(const std::vector<Timeline>& timelines) {
  return std::ranges::any_of(timelines, [](const Timeline& timeline) {
    return std::ranges::any_of(timeline.ops, [](const OpRecord& op) { return op.of_host; });
  });
}

/// Links between chips and their host, and the memory that its cores stream from.
void add_host_links(const Job& job, Network& network, std::set<std::string>& ids) {
  for (const bool to_host : {true, false}) {
    for (const HostCopy::Term& term : network.host_copy(to_host).terms)
      ids.insert(term.link);
  }
  for (const JobPart& part : job.parts)
    ids.insert(part.scenario.partition().node.host.memory.id);
}

void add_drives(const Job& job, std::vector<Resource>& resources) {
  if (!job.parts.front().scenario.plan.offload.uses(Tier::nvme)) return;
  constexpr double spread = 0.12; // as links have where none is stated
  resources.push_back(
      {"local drives", "Bound by the node's drives", "{} faster local drives", spread,
       [](ResourceScale& scale, double by) { scale.links[local_drives].bandwidth = by; }});
}

void add_link_resources(const Job& job, const std::vector<Timeline>& timelines, Network& network,
                        std::vector<Resource>& resources) {
  std::set<std::string> used;
  for (const Timeline& timeline : timelines)
    add_links_in_use(timeline, network, used);
  if (copies_to_host(timelines)) add_host_links(job, network, used);
  add_drives(job, resources);
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
  Retimer(const Job& job, Network& network, Engine engine = Engine::analytic)
      : job_(&job), network_(&network), engine_(engine) {}

  [[nodiscard]] Seconds unscaled() const { return job_time(*job_, *network_, {}, engine_).step; }
  [[nodiscard]] Seconds with(const Resource& resource, double speed_up) const {
    ResourceScale scale;
    resource.speed_up(scale, speed_up);
    return job_time(*job_, *network_, scale, engine_).step;
  }

private:
  const Job* job_;
  Network* network_;
  Engine engine_;
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

std::vector<Resource> resources_of(const Job& job, Network& network,
                                   const std::vector<Timeline>& timelines) {
  std::vector<Resource> resources = chip_resources(job);
  add_link_resources(job, timelines, network, resources);
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
  const Job job = uniform_job(scenario, program);
  const Retimer retimer(job, network);
  const Seconds step = retimer.unscaled();
  std::vector<Elasticity> slopes;
  for (const Resource& resource : resources_of(job, network, {timeline})) {
    slopes.push_back({resource.name, slope_of(resource, step, retimer), 0.0, resource.spread});
  }
  std::stable_sort(slopes.begin(), slopes.end(), steeper); // one order of addition everywhere
  return range_of(step, slopes, scenario.training.stack.spread);
}

Explanation explain(const Scenario& scenario, const StepProgram& program, Network& network,
                    const Timeline& timeline, Engine engine) {
  return explain(uniform_job(scenario, program), network, {timeline}, engine);
}

Explanation explain(const Job& job, Network& network, const std::vector<Timeline>& timelines,
                    Engine engine) {
  constexpr double what_if = 1.10;
  const Retimer retimer(job, network, engine);
  const Seconds step = retimer.unscaled();

  struct Ranked {
    Resource resource;
    Elasticity slope;
    Seconds ten_percent;
  };
  std::vector<Ranked> ranked;
  for (const Resource& resource : resources_of(job, network, timelines)) {
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
  explanation.range =
      range_of(step, explanation.elasticities, job.parts.front().scenario.training.stack.spread);
  explanation.resource = ranked.front().slope.resource;
  explanation.verdict =
      verdict(ordered, explanation.elasticities, step, ranked.front().ten_percent);
  std::stable_sort(explanation.what_ifs.begin(), explanation.what_ifs.end(),
                   [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
  return explanation;
}

} // namespace clustersim
