#pragma once
// The streams of one rank: host, compute, one for each axis of communication. Operators come in
// program order; time passes from event to event (docs/explanation/event-engine.md).
//
// The compute stream leads: it works, or waits. Collectives run beside it at the speeds that
// FlowRates gives them, and while n of them run, a kernel runs at (1 − tax)ⁿ of its speed.

#include "engine/flow_rates.hpp"
#include "engine/op_records.hpp"
#include "plan/step_program.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace clustersim {

/// An operator with its times, ready to run.
struct TimedOp {
  enum class Kind { kernel, collective, join } kind = Kind::kernel;
  Lane lane = Lane::compute; // of the collective, or to join
  Cause cause = Cause::compute_bound;
  double device = 0.0, host = 0.0, launch = 0.0; // launch: of device
  double hidden = 0.0;                           // share
  std::uint32_t flow = no_flow;
  std::uint32_t block = 0, op = 0; // where it comes from
};

class Streams {
public:
  Streams(FlowRates& rates, double tax, std::uint32_t stage, Recorder* recorder);

  void start_at(double moment) { now_ = host_ = moment; } // before anything runs
  void run(const TimedOp& op);
  /// Waits until the moment, for this reason.
  void wait_until(double moment, Cause cause);
  void wait_for_all();
  /// When the lane will be empty if nothing further starts.
  [[nodiscard]] double drained(Lane lane) const;

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const Causes& causes() const { return causes_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Seconds that each set of flows ran, by its number; that each lane, the host at compute's.
  [[nodiscard]] const std::vector<double>& set_times() const { return set_times_; }
  [[nodiscard]] const std::array<double, lane_count>& busy() const { return busy_; }

  /// What the future depends on, and what has added up, for repeating rounds of a loop at once.
  struct Mark {
    double now = 0.0, host = 0.0;
    std::uint64_t host_waits = 0;
    std::array<std::vector<std::pair<std::uint32_t, double>>, lane_count> left;
    Causes causes{};
    std::vector<double> set_times;
    std::array<double, lane_count> busy{};
    [[nodiscard]] double backlog(std::size_t lane) const;
  };
  [[nodiscard]] Mark mark() const;
  /// Whether a round that began at `before` and ended here would be followed by its like.
  [[nodiscard]] static bool repeats(const Mark& before, const Mark& here);
  /// As if so many more rounds had passed.
  void repeat(const Mark& before, const Mark& here, std::int64_t rounds);

private:
  struct Pending {
    std::uint32_t flow = no_flow;
    double left = 0.0; // seconds alone
    double started = 0.0;
    std::uint32_t block = 0, op = 0;
  };
  void work(double seconds);
  void run_kernel(const TimedOp& op);
  void run_collective(const TimedOp& op);
  void join(Lane lane, Cause cause);
  double advance(double seconds);
  void pass(double seconds);
  void record(const TimedOp& op, Lane lane, double start);
  void flows_changed();
  void finish_head(std::size_t lane);

  FlowRates* rates_;
  Recorder* recorder_;
  double keep_; // speed of kernels beside one collective
  std::uint32_t stage_;
  double now_ = 0.0, host_ = 0.0;
  std::array<std::deque<Pending>, lane_count> queues_; // [compute]: the one that blocks
  RunningFlows running_;
  std::array<double, flow_slots> speed_{};
  std::size_t set_ = 0;
  int beside_ = 0; // that run beside the compute stream
  int taking_ = 0; // of them, those that take from its kernels
  double compute_speed_ = 1.0;
  std::uint64_t events_ = 0, host_waits_ = 0;
  Causes causes_{};
  std::vector<double> set_times_;
  std::array<double, lane_count> busy_{};
};

} // namespace clustersim
