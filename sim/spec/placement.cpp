#include "spec/placement.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace clustersim {

std::string_view name_of(Axis axis) {
  switch (axis) {
  case Axis::tensor:
    return "tensor";
  case Axis::context:
    return "context";
  case Axis::expert:
    return "expert";
  case Axis::data:
    return "data";
  case Axis::pipeline:
    return "pipeline";
  }
  throw Bug("unknown axis");
}

namespace {

struct Run {
  int size = 1, stride = 1;
};

int size_of(const Plan& plan, Axis axis) {
  switch (axis) {
  case Axis::tensor:
    return plan.tensor;
  case Axis::context:
    return plan.context;
  case Axis::data:
    return plan.data;
  case Axis::pipeline:
    return plan.pipeline;
  case Axis::expert:
    return 1; // experts are dealt out over the ranks of the other axes
  }
  throw Bug("unknown axis");
}

/// The wanted axes with their distances, innermost first.
template <class Wanted>
std::vector<Run> runs_of(const Plan& plan, const Wanted& wanted) {
  std::vector<Run> runs;
  int stride = 1;
  for (const Axis axis : plan.placement) {
    const int size = size_of(plan, axis);
    if (wanted(axis) && size > 1) runs.push_back({size, stride});
    stride *= size;
  }
  return runs;
}

/// Every step-th of the ranks that `runs` count through, `count` of them.
std::optional<std::vector<Run>> pick(const std::vector<Run>& runs, int step, int count) {
  std::vector<Run> out;
  for (const Run& run : runs) {
    if (count == 1) break;
    if (step >= run.size) {
      if (step % run.size != 0) return std::nullopt;
      step /= run.size;
      continue;
    }
    if (run.size % step != 0) return std::nullopt;
    const int here = std::min(count, run.size / step);
    if (count % here != 0 || (run.size / step) % here != 0) return std::nullopt;
    out.push_back({here, run.stride * step});
    count /= here;
    step = 1;
  }
  return count == 1 ? std::optional(out) : std::nullopt;
}

std::optional<RankGroup> joined(const std::vector<Run>& runs) {
  std::vector<Run> merged;
  for (const Run& run : runs) {
    if (!merged.empty() && merged.back().size * merged.back().stride == run.stride) {
      merged.back().size *= run.size;
    } else {
      merged.push_back(run);
    }
  }
  if (merged.size() > 2) return std::nullopt;
  if (merged.empty()) return RankGroup{};
  RankGroup group{merged[0].size, merged[0].stride, 0, 0};
  if (merged.size() == 2) {
    group.block = merged[0].size;
    group.block_stride = merged[1].stride;
    group.size *= merged[1].size;
  }
  return group;
}

/// Distance, in the ranks of a stage, between neighbours of the expert grid: its axes in the order
/// of the placement, with expert_tensor in tensor's place and the replicas in data's.
int expert_step(const Plan& plan, GroupKind kind, int replicas) {
  int step = 1;
  for (const Axis axis : plan.placement) {
    if (axis == Axis::tensor) {
      if (kind == GroupKind::expert_tensor) return step;
      step *= plan.expert_tensor;
    } else if (axis == Axis::expert) {
      if (kind == GroupKind::expert) return step;
      step *= plan.expert;
    } else if (axis == Axis::data) {
      if (kind == GroupKind::expert_replicas) return step;
      step *= replicas;
    }
  }
  throw Bug("a placement without all axes");
}

std::optional<RankGroup> of_experts(const Plan& plan, GroupKind kind, int step, int count) {
  const int stage = plan.tensor * plan.context * plan.data;
  const int together = plan.expert * plan.expert_tensor;
  if (stage % together != 0) return std::nullopt;
  const int replicas = stage / together;
  const int all = kind == GroupKind::expert          ? plan.expert
                  : kind == GroupKind::expert_tensor ? plan.expert_tensor
                                                     : replicas;
  const auto runs = pick(runs_of(plan, [](Axis axis) { return axis != Axis::pipeline; }),
                         expert_step(plan, kind, replicas) * step, count > 0 ? count : all / step);
  return runs ? joined(*runs) : std::nullopt;
}

} // namespace

std::optional<RankGroup> rank_group(const Plan& plan, GroupKind kind, int step, int count) {
  const auto of = [&](Axis one, Axis other) {
    const std::vector<Run> runs =
        runs_of(plan, [&](Axis axis) { return axis == one || axis == other; });
    int all = 1;
    for (const Run& run : runs)
      all *= run.size;
    const auto picked = pick(runs, step, count > 0 ? count : all / step);
    return picked ? joined(*picked) : std::nullopt;
  };
  switch (kind) {
  case GroupKind::tensor:
    return of(Axis::tensor, Axis::tensor);
  case GroupKind::context:
    return of(Axis::context, Axis::context);
  case GroupKind::pipeline:
    return of(Axis::pipeline, Axis::pipeline);
  case GroupKind::replicas:
    return of(Axis::context, Axis::data);
  case GroupKind::expert:
  case GroupKind::expert_tensor:
  case GroupKind::expert_replicas:
    return of_experts(plan, kind, step, count);
  }
  throw Bug("unknown group");
}

std::optional<Placement> parse_placement(const std::string& text, std::string& why) {
  constexpr std::array<std::pair<std::string_view, Axis>, 10> words{{{"tensor", Axis::tensor},
                                                                     {"context", Axis::context},
                                                                     {"expert", Axis::expert},
                                                                     {"data", Axis::data},
                                                                     {"pipeline", Axis::pipeline},
                                                                     {"tp", Axis::tensor},
                                                                     {"cp", Axis::context},
                                                                     {"ep", Axis::expert},
                                                                     {"dp", Axis::data},
                                                                     {"pp", Axis::pipeline}}};
  std::vector<Axis> named;
  const auto add = [&](std::string_view word) {
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const auto& entry) { return entry.first == word; });
    if (known == words.end()) {
      why = fmt::format("'{}' is no axis of a plan", printable(std::string(word.substr(0, 32))));
    } else if (std::find(named.begin(), named.end(), known->second) != named.end()) {
      why = fmt::format("the axis {} is placed twice", name_of(known->second));
    } else {
      named.push_back(known->second);
    }
    return why.empty();
  };
  std::string word;
  for (const char c : text + ",") {
    const bool part = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (part) word += c;
    if (part || word.empty()) continue;
    if (!add(word)) return std::nullopt;
    word.clear();
  }
  if (named.empty()) {
    why = "no axis is named";
    return std::nullopt;
  }
  for (const Axis axis : usual_placement) {
    if (std::find(named.begin(), named.end(), axis) == named.end()) named.push_back(axis);
  }
  Placement placement{};
  std::copy(named.begin(), named.end(), placement.begin());
  return placement;
}

std::string placement_text(const Placement& placement) {
  std::string out;
  for (const Axis axis : placement)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(axis));
  return out;
}

} // namespace clustersim
