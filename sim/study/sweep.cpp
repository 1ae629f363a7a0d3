#include "study/sweep.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "pipeline.hpp"
#include "study/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace clustersim {
namespace {

/// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), 64 bits: tells slips, not forgeries.
std::string fingerprint(const Scenario& scenario, std::string_view version) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    hash = (hash ^ 0x1fULL) * 1099511628211ULL;
  };
  add(version);
  for (const ResolvedValue& value : scenario.inputs) {
    add(value.key);
    add(value.number ? shortest(*value.number) : value.text);
  }
  return fmt::format("{:016x}", hash);
}

std::string why_of(const Diagnostics& diagnostics) {
  for (const Diagnostic& one : diagnostics.sorted()) {
    if (one.severity == Severity::error) return one.message;
  }
  throw Bug("a scenario is refused without a reason");
}

void rate(SweepPoint& point, const Scenario& scenario) {
  const auto set = [&point](std::string_view name, double value) {
    for (std::size_t i = 0; i < sweep_metrics.size(); ++i) {
      if (sweep_metrics.at(i).name == name) point.results.at(i) = value;
    }
  };
  const auto fits = [&](const MemoryFootprint& memory) {
    set("memory", (memory.peak + memory.reserve).si());
    if (memory.fits()) return true;
    point.status = PointStatus::oom;
    point.reason = fmt::format("short by {}", format_binary(-memory.margin()));
    return false;
  };
  // What does not fit need not be timed; shares of unlike partitions follow from times alone.
  if (scenario.cluster.partitions.size() == 1 && !fits(memory_footprint(scenario))) return;
  const Answer found = answer(scenario);
  if (!fits(found.memory)) return;
  const Headline& head = found.headline;
  point.status = PointStatus::ok;
  point.reason.clear();
  set("step_time", found.timeline.step.si());
  set("tokens_per_s", head.tokens_per_second);
  set("tokens_per_s_per_chip", head.tokens_per_second_per_chip);
  set("flops_per_chip", head.rate_per_chip.si());
  set("mfu", head.mfu);
  set("hfu", head.hfu);
  set("energy", found.energy.per_step.si() / (head.tokens_per_second * found.timeline.step.si()));
}

void refuse(SweepPoint& point, std::string why) {
  point.status = PointStatus::refused;
  point.reason = std::move(why);
}

/// False when the point was taken over and its inputs are others now.
bool compute(SweepPoint& point, const SweepQuestion& question, std::string& title) {
  LoadOptions loading = question.loading;
  for (std::size_t a = 0; a < question.axes.size(); ++a)
    loading.settings.push_back(question.axes[a].key + "=" + point.values[a]);
  Diagnostics diagnostics;
  const auto scenario = load_scenario(question.path, *question.catalogue, loading, diagnostics);
  if (!scenario || scenario->serves()) {
    const bool other = !point.inputs.empty();
    point.inputs.clear();
    refuse(point, scenario ? "a scenario that serves is not swept" : why_of(diagnostics));
    return !other;
  }
  title = scenario->title;
  const std::string inputs = fingerprint(*scenario, question.version);
  if (!point.inputs.empty()) return point.inputs == inputs;
  rate(point, *scenario);
  point.inputs = inputs;
  return true;
}

} // namespace

std::string_view name_of(PointStatus status) {
  switch (status) {
  case PointStatus::ok:
    return "ok";
  case PointStatus::oom:
    return "oom";
  case PointStatus::refused:
    return "n/a";
  case PointStatus::missing:
    return "";
  }
  throw Bug("status of a point outside its enumeration");
}

namespace {

bool read_point(SweepPoint& point, const CsvTable& saved, std::size_t row) {
  const std::string_view status = saved.at(row, "status");
  if (status == name_of(PointStatus::refused)) return true; // known anew as soon as it is loaded
  const bool ok = status == name_of(PointStatus::ok);
  if (!ok && status != name_of(PointStatus::oom)) return false;
  SweepPoint read{point.values,
                  ok ? PointStatus::ok : PointStatus::oom,
                  std::string{saved.at(row, "reason")},
                  std::string{saved.at(row, "inputs")},
                  {}};
  for (std::size_t i = 0; i < sweep_metrics.size(); ++i) {
    const SweepMetric& metric = sweep_metrics.at(i);
    read.results.at(i) = number_from(saved.at(row, metric.column));
    if (!read.results.at(i) && (ok || metric.name == "memory")) return false;
  }
  if (read.inputs.empty()) return false;
  point = std::move(read);
  return true;
}

} // namespace

bool take_over(Sweep& sweep, const CsvTable& saved, Diagnostics& out) {
  constexpr std::string_view remedy = "another file, or remove this one first";
  std::map<std::vector<std::string>, SweepPoint*> by_values;
  for (SweepPoint& point : sweep.points)
    by_values[point.values] = &point;
  const std::size_t own = sweep.axes.size() + 3 + sweep_metrics.size();
  bool same_keys = saved.header.size() == own && saved.column("status").has_value();
  for (std::size_t a = 0; same_keys && a < sweep.axes.size(); ++a)
    same_keys = saved.header[a] == sweep.axes[a].key;
  if (!same_keys) {
    complain(out, saved.path, "the file exists, and is no sweep of these keys",
             std::string{remedy});
    return false;
  }
  for (std::size_t row = 0; row < saved.rows.size(); ++row) {
    const auto& fields = saved.rows[row].fields;
    const std::vector<std::string> values(
        fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(sweep.axes.size()));
    const auto found = by_values.find(values);
    if (found == by_values.end() || !read_point(*found->second, saved, row)) {
      complain(out, saved.path,
               fmt::format("row {} of the file that exists is no point of this sweep", row + 1),
               std::string{remedy});
      return false;
    }
  }
  return true;
}

bool complete(Sweep& sweep, const SweepQuestion& question, Diagnostics& out) {
  std::vector<std::string> titles(sweep.points.size());
  std::vector<char> same(sweep.points.size(), 1), done(sweep.points.size(), 0);
  in_parallel(threads_for(question.threads), 0, sweep.points.size(), [&](std::size_t i) {
    if (question.stop && question.stop()) return;
    done[i] = sweep.points[i].inputs.empty() ? 0 : 1;
    same[i] = compute(sweep.points[i], question, titles[i]) ? 1 : 0;
  });
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (same[i] == 0) {
      complain(out, question.path,
               "the file that exists holds a sweep of other inputs: the scenario, the settings, "
               "the data or the program have changed since",
               "another file, or remove that one first");
      return false;
    }
    sweep.reused += done[i] != 0 ? 1 : 0;
    sweep.interrupted = sweep.interrupted || sweep.points[i].status == PointStatus::missing;
    if (sweep.title.empty()) sweep.title = titles[i];
  }
  return true;
}

} // namespace clustersim
