#include "engine/event.hpp"

#include "base/bug.hpp"
#include "engine/pipeline_walk.hpp"
#include "engine/settled.hpp"
#include "engine/streams.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace clustersim {
namespace {

/// What adds up over a step, so that long schedules follow from short ones.
struct Totals {
  double seconds = 0.0; // until all classes are through
  Causes causes{};      // of the busiest class
  Causes critical{};    // of the longest chain
  std::array<double, lane_count> busy{};
  std::vector<double> set_times;
  double events = 0.0;
};

double seconds_of(const Totals& totals) {
  return totals.seconds;
}

template <class Each>
Totals each_of(const Totals& a, const Totals& b, const Each& each) {
  Totals out;
  out.seconds = each(a.seconds, b.seconds);
  for (std::size_t i = 0; i < cause_count; ++i) {
    out.causes[i] = each(a.causes[i], b.causes[i]);
    out.critical[i] = each(a.critical[i], b.critical[i]);
  }
  for (std::size_t i = 0; i < lane_count; ++i)
    out.busy[i] = each(a.busy[i], b.busy[i]);
  for (std::size_t i = 0; i < std::max(a.set_times.size(), b.set_times.size()); ++i) {
    out.set_times.push_back(each(i < a.set_times.size() ? a.set_times[i] : 0.0,
                                 i < b.set_times.size() ? b.set_times[i] : 0.0));
  }
  out.events = each(a.events, b.events);
  return out;
}
Totals operator+(const Totals& a, const Totals& b) {
  return each_of(a, b, std::plus<>{});
}
Totals operator-(const Totals& a, const Totals& b) {
  return each_of(a, b, std::minus<>{});
}
Totals operator*(const Totals& a, double times) {
  return each_of(a, a, [times](double one, double) { return one * times; });
}

/// Everything that all classes and schedules share.
class TimedProgram {
public:
  TimedProgram(const StepProgram& lowered, CostModel& cost, const EventOptions& options)
      : program(&lowered), times(time_blocks(lowered, cost)), rates(cost.network(), cost.scale()),
        tax(cost.tax()), repeats_rounds(options.repeats_rounds) {
    if (lowered.classes.empty()) throw Bug("a step program without rank classes");
    for (std::size_t b = 0; b < lowered.blocks.size(); ++b) {
      std::vector<TimedOp>& ops = blocks.emplace_back();
      for (std::size_t o = 0; o < lowered.blocks[b].ops.size(); ++o) {
        ops.push_back(timed(lowered.blocks[b].ops[o], times[b][o], options.contention));
        ops.back().block = static_cast<std::uint32_t>(b);
        ops.back().op = static_cast<std::uint32_t>(o);
      }
    }
  }

  void run(Streams& streams, std::size_t sequence) const {
    for (const Item& item : program->sequences[sequence].items)
      run(streams, item);
  }

  const StepProgram* program;
  BlockTimes times;
  std::vector<std::vector<TimedOp>> blocks;
  FlowRates rates;
  double tax = 0.0;
  bool repeats_rounds = true;
  Recorder* recorder = nullptr;

private:
  TimedOp timed(const Op& op, const OpTime& time, bool contends) {
    TimedOp out;
    out.device = time.device.si();
    out.host = time.host.si();
    out.lane = op.lane;
    if (const auto* join = std::get_if<Join>(&op.work)) {
      out.kind = TimedOp::Kind::join;
      out.lane = join->lane;
    } else if (const auto* collective = std::get_if<Collective>(&op.work)) {
      // A collective on the compute lane blocks it whole.
      out.kind = TimedOp::Kind::collective;
      out.hidden = op.lane == Lane::compute ? 0.0 : op.hidden;
      out.flow = rates.add(*collective, time.collective, contends);
    } else if (std::holds_alternative<HostWork>(op.work)) {
      out.kind = TimedOp::Kind::collective; // on a stream of its own, like them
      out.hidden = op.lane == Lane::compute ? 0.0 : op.hidden;
      out.flow = rates.add_apart();
    } else {
      out.cause = cause_of(time.kernel, op.phase);
      if (out.cause != Cause::optimizer) out.launch = time.kernel.launch.si();
    }
    return out;
  }

  void run_once(Streams& streams, const Item& item) const {
    if (item.what == Item::What::sequence) {
      run(streams, item.index);
      return;
    }
    for (const TimedOp& op : blocks[item.index])
      streams.run(op);
  }

  /// Rounds that leave everything as they found it are counted. A loop that never comes to rest is
  /// continued from its last round. A trace shows all rounds until it is full.
  void run(Streams& streams, const Item& item) const {
    constexpr std::int64_t few = 3, most = 64;
    const auto counts = [&] {
      return repeats_rounds && item.count > few && (recorder == nullptr || recorder->full);
    };
    std::optional<Streams::Mark> before;
    if (counts()) before = streams.mark();
    std::int64_t marked = 0;
    for (std::int64_t i = 1; i <= item.count; ++i) {
      run_once(streams, item);
      if (!counts()) continue;
      Streams::Mark here = streams.mark();
      if (before && i < item.count && (++marked == most || Streams::repeats(*before, here))) {
        streams.repeat(*before, here, item.count - i);
        return;
      }
      before = std::move(here);
    }
  }
};

void add(Causes& sum, const Causes& more, double times = 1.0) {
  for (std::size_t i = 0; i < cause_count; ++i)
    sum[i] += times * more[i];
}

/// A stage by its streams, and for the longest chain what each task spent and waited for.
class StreamedStage {
public:
  StreamedStage(TimedProgram& timed, std::size_t number)
      : timed_(&timed), number_(number),
        streams_(timed.rates, timed.tax, static_cast<std::uint32_t>(number), timed.recorder) {
    timed.run(streams_, timed.program->classes[number].prologue);
    close();
  }

  void wait_for(const Message& message) {
    if (message.arrived <= streams_.now()) return;
    Entry& next = upcoming_;
    next.from = message;
    next.waited_for_message = true;
    streams_.wait_until(message.computed, Cause::pipeline_bubble);
    streams_.wait_until(message.arrived, Cause::pipeline_send);
    mark_ = streams_.causes(); // what the wait took is on the sender's side of the chain
  }
  void run(std::size_t sequence) {
    timed_->run(streams_, sequence);
    close();
    if (timed_->recorder != nullptr && timed_->recorder->takes_more()) {
      timed_->recorder->passes.push_back(
          {static_cast<std::uint32_t>(number_), sequence, streams_.now()});
    }
  }
  [[nodiscard]] Message message() const {
    return {streams_.now(), streams_.drained(Lane::pipeline), number_, entries_.size() - 1};
  }
  void finish() {
    streams_.wait_for_all();
    close();
  }

  struct Entry { // the prologue, a task, or the end
    Causes spent{};
    bool waited_for_message = false;
    Message from;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Streams& streams() const { return streams_; }

private:
  void close() {
    upcoming_.spent = streams_.causes();
    add(upcoming_.spent, mark_, -1.0);
    entries_.push_back(upcoming_);
    upcoming_ = {};
    mark_ = streams_.causes();
  }

  TimedProgram* timed_;
  std::size_t number_;
  Streams streams_;
  std::vector<Entry> entries_;
  Entry upcoming_;
  Causes mark_{};
};

/// Back from the last stage to end: through its tasks, and to the sender wherever one waited.
Causes longest_chain(const std::vector<StreamedStage>& stages, std::size_t last) {
  Causes sum{};
  std::size_t stage = last, entry = stages[last].entries().size() - 1;
  for (;;) {
    const StreamedStage::Entry& here = stages[stage].entries()[entry];
    add(sum, here.spent);
    if (here.waited_for_message) {
      sum[static_cast<std::size_t>(Cause::pipeline_send)] += here.from.arrived - here.from.computed;
      stage = here.from.stage;
      entry = here.from.task;
    } else if (entry == 0) {
      return sum;
    } else {
      --entry;
    }
  }
}

void add_streams(Totals& totals, const Streams& streams) {
  add(totals.causes, streams.causes());
  for (std::size_t i = 0; i < lane_count; ++i)
    totals.busy[i] += streams.busy()[i];
  if (totals.set_times.size() < streams.set_times().size())
    totals.set_times.resize(streams.set_times().size(), 0.0);
  for (std::size_t i = 0; i < streams.set_times().size(); ++i)
    totals.set_times[i] += streams.set_times()[i];
}

/// Until every stage has ended its last task.
Totals through_pipeline(TimedProgram& timed, const PipelineSchedule& schedule,
                        std::size_t busiest) {
  std::vector<StreamedStage> stages;
  const std::size_t count = timed.program->classes.size();
  stages.reserve(count);
  for (std::size_t s = 0; s < count; ++s)
    stages.emplace_back(timed, s);
  PipelineWalk<StreamedStage>(*timed.program, schedule, stages).walk();
  Totals totals;
  std::size_t last = 0;
  for (std::size_t s = 0; s < count; ++s) {
    stages[s].finish();
    totals.events += static_cast<double>(stages[s].streams().events());
    if (stages[s].streams().now() > stages[last].streams().now()) last = s;
  }
  totals.seconds = stages[last].streams().now();
  const Streams& own = stages[busiest].streams();
  add_streams(totals, own);
  totals.causes[static_cast<std::size_t>(Cause::pipeline_bubble)] += totals.seconds - own.now();
  totals.critical = longest_chain(stages, last);
  return totals;
}

/// What every class does at the end, or all that it does where there is no pipeline.
Totals through_sequences(TimedProgram& timed, std::size_t busiest, double from) {
  Totals totals;
  for (std::size_t c = 0; c < timed.program->classes.size(); ++c) {
    Streams streams(timed.rates, timed.tax, static_cast<std::uint32_t>(c), timed.recorder);
    streams.start_at(from);
    timed.run(streams, timed.program->classes[c].sequence);
    streams.wait_for_all();
    totals.events += static_cast<double>(streams.events());
    const double took = streams.now() - from;
    if (took > totals.seconds || c == 0) {
      totals.seconds = took;
      totals.critical = streams.causes();
    }
    if (c == busiest) {
      add_streams(totals, streams);
      totals.causes[static_cast<std::size_t>(Cause::pipeline_bubble)] -= took;
    }
  }
  totals.causes[static_cast<std::size_t>(Cause::pipeline_bubble)] += totals.seconds;
  return totals;
}

Totals whole_step(TimedProgram& timed, std::size_t busiest) {
  if (!timed.program->pipeline) return through_sequences(timed, busiest, 0.0);
  // A trace shows the first schedule that is run: of a long one, a shorter one without the update.
  const auto run = [&](const PipelineSchedule& schedule) {
    if (timed.recorder != nullptr) timed.recorder->micro_batches = schedule.micro_batches;
    Totals totals = through_pipeline(timed, schedule, busiest);
    if (schedule.micro_batches < timed.program->pipeline->micro_batches) timed.recorder = nullptr;
    return totals;
  };
  const bool all = !timed.repeats_rounds;
  const Totals passes =
      all ? run(*timed.program->pipeline) : settled(*timed.program->pipeline, run);
  return passes + through_sequences(timed, busiest, passes.seconds);
}

/// Rounding leaves a hair below nothing in differences of long sums.
void keep_positive(Causes& causes) {
  for (double& cause : causes)
    cause = std::max(0.0, cause);
}

std::vector<LinkUse> link_use(const TimedProgram& timed, const Totals& totals) {
  std::vector<LinkUse> out;
  const std::size_t classes = timed.rates.set(0).use.size();
  for (std::size_t c = 0; c < classes; ++c) {
    LinkUse one{LinkClassId{c}, 0.0, 0.0};
    for (std::size_t s = 0; s < totals.set_times.size(); ++s) {
      const double use = timed.rates.set(s).use[c], share = totals.set_times[s] / totals.seconds;
      one.use += use * share;
      if (use > 0.0) one.busy += share;
    }
    if (one.use > 0.0) out.push_back(one);
  }
  return out;
}

std::vector<StreamUse> stream_use(const Totals& totals) {
  constexpr std::array<const char*, lane_count> names{"compute", "tensor",   "context",    "expert",
                                                      "data",    "pipeline", "host copies"};
  std::vector<StreamUse> out;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (totals.busy[lane] > 0.0) out.push_back({names[lane], totals.busy[lane] / totals.seconds});
  }
  return out;
}

} // namespace

EventRun run_event(const StepProgram& program, CostModel& cost, const EventOptions& options) {
  TimedProgram timed(program, cost, options);
  EventRun result;
  BusiestClass busiest = busiest_class(program, timed.times, timed.tax);
  result.record.most_spans = options.spans;
  if (options.spans > 0) timed.recorder = &result.record;
  Totals totals = whole_step(timed, busiest.number);
  keep_positive(totals.causes);
  keep_positive(totals.critical);
  const Seconds straggler = Seconds{totals.seconds} * (cost.straggler() - 1.0);
  result.timeline.breakdown = breakdown_of(program, totals.causes, straggler);
  for (const BreakdownItem& item : result.timeline.breakdown)
    result.timeline.step += item.time;
  result.timeline.ops = std::move(busiest.ops);
  result.timeline.hardware_flops = executed_flops(result.timeline.ops);
  result.critical_path = breakdown_of(program, totals.critical, straggler);
  result.streams = stream_use(totals);
  result.links = link_use(timed, totals);
  result.events = static_cast<std::uint64_t>(totals.events);
  result.flow_sets = timed.rates.solved();
  if (options.spans > 0) {
    for (std::size_t s = 0; s < timed.rates.solved(); ++s)
      result.sets.push_back(timed.rates.set(s));
  }
  return result;
}

Seconds event_step_time(const StepProgram& program, CostModel& cost) {
  TimedProgram timed(program, cost, {});
  return Seconds{whole_step(timed, 0).seconds} * cost.straggler();
}

} // namespace clustersim
