#include "report/trace.hpp"

#include "base/bug.hpp"
#include "report/json_writer.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double micro = 1e-6;
constexpr std::array<const char*, lane_count> stream_names{
    "compute",       "tensor parallel", "context parallel", "expert parallel",
    "data parallel", "pipeline",        "host copies"};

Json event(const char* kind, std::uint32_t stage, const std::string& name) {
  return {{"ph", kind}, {"pid", stage}, {"name", name}};
}

void add_names(const Answer& answer, Json& events) {
  for (std::uint32_t stage = 0; stage < answer.program.classes.size(); ++stage) {
    Json process = event("M", stage, "process_name");
    process["args"] = {{"name", answer.program.classes[stage].name}};
    events.push_back(std::move(process));
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      Json thread = event("M", stage, "thread_name");
      thread["tid"] = lane;
      thread["args"] = {{"name", stream_names.at(lane)}};
      events.push_back(std::move(thread));
    }
  }
}

void add_spans(const Answer& answer, Json& events) {
  for (const Span& span : answer.event->record.spans) {
    const Block& block = answer.program.blocks[span.block];
    Json one = event("X", span.stage, block.ops[span.op].name);
    one["tid"] = static_cast<std::size_t>(span.lane);
    one["ts"] = span.start / micro;
    one["dur"] = (span.end - span.start) / micro;
    one["cat"] = block.name;
    events.push_back(std::move(one));
  }
}

void add_link_use(const Answer& answer, Json& events) {
  const std::vector<Link>& links = answer.network->graph.link_classes();
  for (const UseChange& change : answer.event->record.changes) {
    Json one = event("C", change.stage, "links");
    one["ts"] = change.at / micro;
    one["args"] = Json::object();
    for (std::size_t c = 0; c < links.size(); ++c)
      one["args"][links[c].id] = answer.event->sets[change.set].use[c];
    events.push_back(std::move(one));
  }
}

Bytes term(const std::vector<MemoryTerm>& terms, std::string_view name) {
  Bytes sum;
  for (const MemoryTerm& one : terms) {
    if (one.name == name) sum += one.bytes;
  }
  return sum;
}

/// What a pass adds to the micro-batches whose activations its stage holds.
int held_by(const RankClass& stage, std::size_t sequence) {
  for (const ChunkPasses& chunk : stage.chunks) {
    if (sequence == chunk.forward || sequence == chunk.first_forward) return 1;
    const bool frees = sequence == chunk.backward || sequence == chunk.last_backward ||
                       sequence == chunk.weight_gradient || sequence == chunk.last_weight_gradient;
    if (frees) return -1;
  }
  return 0;
}

struct Level {
  double at = 0.0, held = 0.0;
};

/// Micro-batches held after each pass of a stage.
std::vector<Level> levels_of_pipeline(const Answer& answer, std::uint32_t stage) {
  std::vector<Level> levels{{0.0, 0.0}};
  for (const PassEnd& pass : answer.event->record.passes) {
    if (pass.stage != stage) continue;
    const int change = held_by(answer.program.classes[stage], pass.sequence);
    if (change != 0) levels.push_back({pass.at, levels.back().held + change});
  }
  return levels;
}

/// Without a pipeline: kernels of a forward pass fill the activations of one micro-batch evenly in
/// time, those of the backward pass empty them.
std::vector<Level> levels_of_passes(const Answer& answer, std::uint32_t stage) {
  std::vector<Level> levels{{0.0, 0.0}};
  std::vector<std::pair<double, double>> run; // end, so long
  bool forward = true;
  const auto close = [&] {
    double whole = 0.0, done = 0.0;
    for (const auto& [end, time] : run)
      whole += time;
    for (const auto& [end, time] : run) {
      done += time;
      levels.push_back({end, forward ? done / whole : 1.0 - done / whole});
    }
    run.clear();
  };
  for (const Span& span : answer.event->record.spans) {
    if (span.stage != stage || span.lane != Lane::compute) continue;
    const Phase phase = answer.program.blocks[span.block].ops[span.op].phase;
    if (phase == Phase::gradient || phase == Phase::optimizer || span.end <= span.start) continue;
    const bool now_forward = phase == Phase::forward;
    if (now_forward != forward) close();
    forward = now_forward;
    run.emplace_back(span.end, span.end - span.start);
  }
  close();
  return levels;
}

/// Everything but activations stays; activations follow the passes up to their term at the peak.
void add_memory(const Answer& answer, Json& events) {
  for (std::uint32_t stage = 0; stage < answer.program.classes.size(); ++stage) {
    const MemoryFootprint& memory = answer.memory;
    const bool staged = answer.program.pipeline && stage < memory.stages.size();
    const std::vector<MemoryTerm>& terms = staged ? memory.stages[stage].terms : memory.terms;
    const Bytes peak = staged ? memory.stages[stage].peak : memory.peak;
    const Bytes activations = term(terms, "activations");
    const std::vector<Level> levels = answer.program.pipeline ? levels_of_pipeline(answer, stage)
                                                              : levels_of_passes(answer, stage);
    double most = 1.0;
    for (const Level& level : levels)
      most = std::max(most, level.held);
    for (const Level& level : levels) {
      Json one = event("C", stage, "memory");
      one["ts"] = level.at / micro;
      one["args"] = {{"bytes", (peak - activations * (1.0 - level.held / most)).si()}};
      events.push_back(std::move(one));
    }
  }
}

} // namespace

std::string render_trace(const Answer& answer) {
  if (!answer.event || answer.event->sets.empty()) throw Bug("a trace of a step without spans");
  Json events = Json::array();
  add_names(answer, events);
  add_spans(answer, events);
  add_link_use(answer, events);
  add_memory(answer, events);
  // One event a line: such files are looked at with text tools, too.
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); ++i)
    out += events[i].dump() + (i + 1 < events.size() ? ",\n" : "\n");
  return out + "]}\n";
}

} // namespace clustersim
