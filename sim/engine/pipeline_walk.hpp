#pragma once
// All stages of a pipeline through their schedules, for both engines. A stage says how time passes
// in it:
//
//   void wait_for(const Message&)        what the next task works on has arrived
//   void run(std::size_t sequence)       one pass
//   Message message()                    what the passes since the last wait have sent
//
// A task runs when the messages that it needs have been sent; which stage goes first does not
// matter, since messages carry their times.

#include "base/bug.hpp"
#include "plan/step_program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace clustersim {

struct Message {
  double computed = 0.0;           // when the pass ended
  double arrived = 0.0;            // when what it sent was there
  std::size_t stage = 0, task = 0; // whose
};

/// Where a chunk stands: its place counted over all pipes, and whether it is its pipe's end.
struct Standing {
  std::size_t place = 0;
  bool first = false, last = false;
};
[[nodiscard]] std::vector<std::vector<Standing>> standings(const PipelineSchedule& schedule);

/// The sequence of every task in order: first and last passes of a chunk have their own.
[[nodiscard]] std::vector<std::size_t> sequences_of(const std::vector<Task>& order,
                                                    const std::vector<ChunkPasses>& chunks);

/// What a place sends forward and backward for each micro-batch; absent until sent.
class Mail {
public:
  Mail(std::size_t places, std::int64_t micro_batches)
      : micro_batches_(micro_batches),
        messages_(2 * places * static_cast<std::size_t>(micro_batches)) {}
  [[nodiscard]] std::optional<Message>& at(bool backward, std::size_t place,
                                           std::int64_t micro_batch) {
    return messages_[(2 * place + (backward ? 1 : 0)) * static_cast<std::size_t>(micro_batches_) +
                     static_cast<std::size_t>(micro_batch)];
  }

private:
  std::int64_t micro_batches_;
  std::vector<std::optional<Message>> messages_;
};

template <class Stage>
class PipelineWalk {
public:
  PipelineWalk(const StepProgram& program, const PipelineSchedule& schedule,
               std::vector<Stage>& stages)
      : stages_(&stages), standings_(standings(schedule)),
        mail_(program.classes.size() * static_cast<std::size_t>(schedule.chunks),
              per_pipe(schedule)),
        next_(program.classes.size(), 0) {
    for (std::size_t s = 0; s < program.classes.size(); ++s) {
      orders_.push_back(task_order(schedule, static_cast<int>(s)));
      sequences_.push_back(sequences_of(orders_.back(), program.classes[s].chunks));
    }
  }

  void walk() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t s = 0; s < orders_.size(); ++s) {
        while (next_[s] < orders_[s].size() && step(s))
          moved = true;
      }
    }
    for (std::size_t s = 0; s < orders_.size(); ++s) {
      if (next_[s] < orders_[s].size()) throw Bug("a pipeline schedule that waits for itself");
    }
  }

private:
  /// Runs the next task of a stage, or two that go together, unless a message is missing.
  bool step(std::size_t stage) {
    const std::vector<Task>& order = orders_[stage];
    const std::size_t first = next_[stage];
    const std::size_t end = first + (order[first].with_next ? 2 : 1);
    for (std::size_t i = first; i < end; ++i) {
      if (needs(stage, order[i]) && !letter(stage, order[i])) return false;
    }
    Stage& here = (*stages_)[stage];
    for (std::size_t i = first; i < end; ++i) {
      if (needs(stage, order[i])) here.wait_for(*letter(stage, order[i]));
    }
    for (std::size_t i = first; i < end; ++i)
      here.run(sequences_[stage][i]);
    for (std::size_t i = first; i < end; ++i)
      send(stage, order[i]);
    next_[stage] = end;
    return true;
  }

  [[nodiscard]] const Standing& standing(std::size_t stage, const Task& task) const {
    return standings_[stage][static_cast<std::size_t>(task.chunk)];
  }
  [[nodiscard]] bool needs(std::size_t stage, const Task& task) const {
    const Standing& at = standing(stage, task);
    if (task.kind == Task::Kind::weight_gradient) return false;
    return task.kind == Task::Kind::forward ? !at.first : !at.last;
  }
  /// What the task works on.
  std::optional<Message>& letter(std::size_t stage, const Task& task) {
    const bool forward = task.kind == Task::Kind::forward;
    const std::size_t place = standing(stage, task).place;
    return mail_.at(!forward, forward ? place - 1 : place + 1, task.micro_batch);
  }
  void send(std::size_t stage, const Task& task) {
    if (task.kind == Task::Kind::weight_gradient) return;
    mail_.at(task.kind != Task::Kind::forward, standing(stage, task).place, task.micro_batch) =
        (*stages_)[stage].message();
  }

  std::vector<Stage>* stages_;
  std::vector<std::vector<Standing>> standings_;
  Mail mail_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<Task>> orders_;
  std::vector<std::vector<std::size_t>> sequences_;
};

} // namespace clustersim
