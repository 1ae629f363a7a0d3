#include "engine/streams.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clustersim {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr auto compute = static_cast<std::size_t>(Lane::compute);

/// Copies to the host are done by copy engines.
constexpr bool takes_from_kernels(std::size_t lane) {
  return static_cast<Lane>(lane) != Lane::host;
}

} // namespace

Streams::Streams(FlowRates& rates, double tax, std::uint32_t stage, Recorder* recorder)
    : rates_(&rates), recorder_(recorder), keep_(1.0 - std::clamp(tax, 0.0, 0.99)), stage_(stage) {
  running_.fill(no_flow);
  flows_changed();
}

void Streams::flows_changed() {
  beside_ = taking_ = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    running_[lane] = queues_[lane].empty() ? no_flow : queues_[lane].front().flow;
    if (lane == compute || queues_[lane].empty()) continue;
    ++beside_;
    if (takes_from_kernels(lane)) ++taking_;
  }
  set_ = rates_->set_of(running_);
  speed_ = rates_->set(set_).speed;
  if (set_times_.size() <= set_) set_times_.resize(set_ + 1, 0.0);
  compute_speed_ = 1.0;
  for (int i = 0; i < taking_; ++i)
    compute_speed_ *= keep_;
  if (recorder_ != nullptr && recorder_->takes_more())
    recorder_->changes.push_back({stage_, now_, set_});
}

void Streams::pass(double seconds) {
  now_ += seconds;
  if (beside_ == 0 && queues_[compute].empty()) return;
  set_times_[set_] += seconds;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (queues_[lane].empty()) continue;
    queues_[lane].front().left -= seconds * speed_[lane];
    busy_[lane] += lane == compute ? 0.0 : seconds;
  }
}

void Streams::finish_head(std::size_t lane) {
  ++events_;
  const Pending& done = queues_[lane].front();
  if (recorder_ != nullptr && lane != compute && recorder_->takes_more()) {
    recorder_->spans.push_back(
        {stage_, done.block, done.op, static_cast<Lane>(lane), done.started, now_});
  }
  queues_[lane].pop_front();
  if (!queues_[lane].empty()) queues_[lane].front().started = now_;
}

/// Lets so much time pass, or less if a flow ends before. Returns what passed.
double Streams::advance(double seconds) {
  std::array<double, lane_count> ends{};
  double soonest = never;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    ends[lane] = queues_[lane].empty() ? never : queues_[lane].front().left / speed_[lane];
    soonest = std::min(soonest, ends[lane]);
  }
  const double step = std::min(seconds, soonest);
  pass(step);
  if (soonest > seconds) return step;
  constexpr double at_once = 1.0 + 1e-12;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (ends[lane] <= soonest * at_once) finish_head(lane);
  }
  flows_changed();
  return step;
}

void Streams::wait_until(double moment, Cause cause) {
  double& waited = causes_[static_cast<std::size_t>(cause)];
  while (now_ < moment) {
    const double wanted = moment - now_, before = now_;
    const double passed = advance(wanted);
    if (passed == wanted) now_ = moment;
    waited += now_ - before;
  }
}

void Streams::join(Lane lane, Cause cause) {
  double& waited = causes_[static_cast<std::size_t>(cause)];
  while (!queues_[static_cast<std::size_t>(lane)].empty())
    waited += advance(never);
}

/// What collectives take from a kernel beside them counts as theirs.
void Streams::work(double seconds) {
  while (beside_ > 0 && seconds > 0.0) {
    const double needed = seconds / compute_speed_;
    const double speed = compute_speed_, sharers = taking_;
    const RunningFlows whose = running_;
    const double passed = advance(needed);
    for (std::size_t lane = compute + 1; lane < lane_count; ++lane) {
      if (whose[lane] == no_flow || !takes_from_kernels(lane)) continue;
      causes_[static_cast<std::size_t>(cause_of(static_cast<Lane>(lane)))] +=
          passed * (1.0 - speed) / sharers;
    }
    seconds = passed == needed ? 0.0 : seconds - passed * speed;
  }
  if (seconds > 0.0) now_ += seconds;
}

void Streams::run_kernel(const TimedOp& op) {
  const double start = now_;
  causes_[static_cast<std::size_t>(Cause::launch)] += op.launch;
  causes_[static_cast<std::size_t>(op.cause)] += op.device - op.launch;
  busy_[compute] += op.device;
  work(op.device);
  record(op, Lane::compute, start);
}

void Streams::run_collective(const TimedOp& op) {
  const double hidden = op.hidden * op.device, open = op.device - hidden;
  if (open > 0.0) {
    const double start = now_;
    queues_[compute].push_back({op.flow, open, now_, op.block, op.op});
    flows_changed();
    join(Lane::compute, cause_of(op.lane));
    busy_[static_cast<std::size_t>(op.lane)] += now_ - start;
    record(op, op.lane, start);
  }
  if (hidden > 0.0) {
    std::deque<Pending>& queue = queues_[static_cast<std::size_t>(op.lane)];
    queue.push_back({op.flow, hidden, now_, op.block, op.op});
    if (queue.size() == 1) flows_changed();
  }
}

void Streams::run(const TimedOp& op) {
  ++events_;
  if (op.kind == TimedOp::Kind::join) {
    join(op.lane, cause_of(op.lane));
    return;
  }
  host_ += op.host;
  if (host_ > now_) {
    ++host_waits_;
    wait_until(host_, Cause::host);
  }
  if (op.kind == TimedOp::Kind::kernel) {
    run_kernel(op);
  } else {
    run_collective(op);
  }
}

void Streams::wait_for_all() {
  wait_until(host_, Cause::host);
  for (std::size_t lane = compute + 1; lane < lane_count; ++lane)
    join(static_cast<Lane>(lane), cause_of(static_cast<Lane>(lane)));
}

double Streams::drained(Lane lane) const {
  if (queues_[static_cast<std::size_t>(lane)].empty()) return now_;
  Streams ahead = *this;
  ahead.recorder_ = nullptr;
  ahead.join(lane, Cause::pipeline_send);
  return ahead.now_;
}

void Streams::record(const TimedOp& op, Lane lane, double start) {
  if (recorder_ != nullptr && recorder_->takes_more())
    recorder_->spans.push_back({stage_, op.block, op.op, lane, start, now_});
}

double Streams::Mark::backlog(std::size_t lane) const {
  double sum = 0.0;
  for (const auto& [flow, seconds] : left[lane])
    sum += seconds;
  return sum;
}

Streams::Mark Streams::mark() const {
  Mark mark{now_, host_, host_waits_, {}, causes_, set_times_, busy_};
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    for (const Pending& one : queues_[lane])
      mark.left[lane].emplace_back(one.flow, one.left);
  }
  return mark;
}

/// The same lies ahead of both ends of the round: equal queues, and a host as far ahead as before.
/// A host that nobody waited for may get further ahead.
bool Streams::repeats(const Mark& before, const Mark& here) {
  constexpr double equal = 1e-10;
  const double close = equal * (here.now - before.now);
  const double lead = here.now - here.host, lead_before = before.now - before.host;
  if (lead < lead_before - close) return false;
  if (here.host_waits != before.host_waits && lead > lead_before + close) return false;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const auto same = [&](const auto& a, const auto& b) {
      return a.first == b.first && std::abs(a.second - b.second) <= close;
    };
    const auto &a = before.left[lane], &b = here.left[lane];
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) return false;
  }
  return true;
}

/// Queues that grow from round to round grow on by as much, at their ends.
void Streams::repeat(const Mark& before, const Mark& here, std::int64_t rounds) {
  const auto times = static_cast<double>(rounds);
  const double period = here.now - before.now;
  now_ += times * period;
  host_ += times * (here.host - before.host);
  for (std::size_t i = 0; i < cause_count; ++i)
    causes_[i] += times * (here.causes[i] - before.causes[i]);
  for (std::size_t i = 0; i < here.set_times.size(); ++i) {
    const double earlier = i < before.set_times.size() ? before.set_times[i] : 0.0;
    set_times_[i] += times * (here.set_times[i] - earlier);
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    busy_[lane] += times * (here.busy[lane] - before.busy[lane]);
    for (Pending& one : queues_[lane])
      one.started += times * period;
    const double growth = here.backlog(lane) - before.backlog(lane);
    if (growth > 1e-9 * period && !queues_[lane].empty())
      queues_[lane].back().left += times * growth;
  }
}

} // namespace clustersim
