#include "plan/dual_pipe.hpp"

#include "base/bug.hpp"

#include <array>
#include <cstddef>
#include <deque>

namespace clustersim {
namespace {

using Kind = Task::Kind;

/// The eight steps of the published program (github.com/deepseek-ai/DualPipe, dualpipe.py, 2025).
/// Direction 0 is the one whose first place is nearer.
class DualPipe {
public:
  DualPipe(const PipelineSchedule& schedule, int stage)
      : half_(schedule.stages / 2), stages_(schedule.stages),
        rank_(stage < half_ ? stage : schedule.stages - 1 - stage), mirrored_(stage >= half_),
        count_(schedule.micro_batches / 2) {}

  std::vector<Task> order() {
    begin();
    steady();
    end();
    return std::move(order_);
  }

private:
  void forward(int direction) {
    order_.push_back({Kind::forward, chunk(direction), next(0, direction)});
  }
  void backward(int direction, bool split) {
    const std::int64_t micro_batch = next(1, direction);
    order_.push_back(
        {split ? Kind::input_gradient : Kind::backward, chunk(direction), micro_batch});
    if (split) waiting_.push_back({Kind::weight_gradient, chunk(direction), micro_batch});
  }
  void weights() {
    if (waiting_.empty()) throw Bug("DualPipe: no weight gradient is waiting");
    order_.push_back(waiting_.front());
    waiting_.pop_front();
  }

  /// One forward and one backward pass at once, each hiding the other's communication.
  void both(int forward_direction) {
    forward(forward_direction);
    order_.back().with_next = true;
    backward(1 - forward_direction, false);
  }

  void begin() {
    for (std::int64_t i = 0; i < 2 * (half_ - rank_ - 1); ++i)
      forward(0);
    for (std::int64_t i = 0; i < rank_ + 1; ++i) {
      forward(0);
      forward(1);
    }
    for (std::int64_t i = 0; i < half_ - rank_ - 1; ++i) {
      backward(1, true);
      weights();
      forward(1);
    }
  }
  void steady() {
    for (std::int64_t i = 0; i < count_ - stages_ + rank_ + 1; ++i) {
      if (i == 0 && rank_ == half_ - 1) { // in the middle the first pair is kept apart
        forward(0);
        backward(1, false);
      } else {
        both(0);
      }
      both(1);
    }
    for (std::int64_t i = 0; i < half_ - rank_ - 1; ++i) {
      backward(1, false);
      both(1);
    }
  }
  void end() {
    bool split = false;
    for (std::int64_t i = 0; i < rank_ + 1; ++i) {
      const bool middle = i == (rank_ + 1) / 2;
      if (middle && rank_ % 2 == 1) split = true;
      backward(1, split);
      if (middle && rank_ % 2 == 0) split = true;
      backward(0, split);
    }
    for (std::int64_t i = 0; i < half_ - rank_ - 1; ++i) {
      weights();
      backward(0, true);
    }
    while (!waiting_.empty())
      weights();
  }

  [[nodiscard]] int chunk(int direction) const { return mirrored_ ? 1 - direction : direction; }
  std::int64_t next(std::size_t pass, int direction) {
    return done_.at(2 * pass + static_cast<std::size_t>(direction))++;
  }

  std::int64_t half_, stages_, rank_;
  bool mirrored_;
  std::int64_t count_; // micro-batches of one direction
  std::array<std::int64_t, 4> done_{};
  std::deque<Task> waiting_;
  std::vector<Task> order_;
};

} // namespace

std::vector<Task> dual_pipe_order(const PipelineSchedule& schedule, int stage) {
  if (schedule.stages % 2 != 0 || schedule.micro_batches % 2 != 0 ||
      schedule.micro_batches < 2 * std::int64_t{schedule.stages}) {
    throw Bug("DualPipe needs even stages and at least twice as many micro-batches");
  }
  return DualPipe(schedule, stage).order();
}

} // namespace clustersim
