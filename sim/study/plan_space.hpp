#pragma once
// All plans that a search may choose from, in a fixed order, without ever holding more than one.
//
// A plan is two choices. The cell says what one rank does with one micro-batch: tensor, sequence,
// context and expert parallelism, micro-batch and recompute. The arrangement says how cells make a
// step: pipeline and its schedule, virtual stages and sharding. Data parallelism is what is left.

#include "analysis/plan_axes.hpp"
#include "spec/scenario.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace clustersim {

/// Open axes filled with all their values for this scenario, each ascending.
[[nodiscard]] SearchSpace whole_space(const Scenario& scenario);

/// A plan with its arrangement still unsaid (one stage, data filling the cluster).
struct PlanCell {
  Plan plan;
};

/// Why plans were turned away, by key ("plan.pipeline", "memory"), each with the first such
/// reason.
struct Refusals {
  struct One {
    std::int64_t count = 0;
    std::string reason;
  };
  std::map<std::string, One> by_key;
  void add(const std::string& key, const std::string& reason);
  void add(const Refusals& more);
  [[nodiscard]] std::int64_t total() const;
};

class PlanSpace {
public:
  explicit PlanSpace(const Scenario& scenario);

  [[nodiscard]] const std::vector<PlanCell>& cells() const { return cells_; }
  /// Arrangements of a cell, refused ones included.
  [[nodiscard]] std::int64_t arrangements(const PlanCell& cell) const;
  /// Calls `visit(plan)` for each arrangement of a cell. Plans whose data axis does not come out
  /// whole are no plans and are not counted.
  template <class Visit>
  void visit(const PlanCell& cell, const Visit& visit) const {
    for (const std::int64_t pipeline : space_.pipeline) {
      const std::int64_t data = data_of(cell, pipeline);
      if (data < 1) continue;
      Plan plan = cell.plan;
      plan.pipeline = static_cast<int>(pipeline);
      plan.data = static_cast<int>(data);
      for (const Schedule schedule : schedules(pipeline)) {
        plan.schedule = schedule;
        for (const std::int64_t virtual_stages : virtual_stages_of(pipeline, schedule)) {
          plan.virtual_stages = static_cast<int>(virtual_stages);
          for (const Sharding& sharding : shardings(plan)) {
            plan.zero = sharding.zero;
            plan.hybrid_shard = sharding.hybrid;
            visit(plan);
          }
        }
      }
    }
  }

private:
  struct Sharding {
    int zero = 0, hybrid = 1;
  };
  [[nodiscard]] std::int64_t data_of(const PlanCell& cell, std::int64_t pipeline) const;
  [[nodiscard]] std::vector<Schedule> schedules(std::int64_t pipeline) const;
  [[nodiscard]] std::vector<std::int64_t> virtual_stages_of(std::int64_t pipeline,
                                                            Schedule schedule) const;
  [[nodiscard]] std::vector<Sharding> shardings(const Plan& plan) const;
  void add_cells(std::int64_t tensor, std::int64_t context);
  void add_cells_of(Plan plan);

  SearchSpace space_;
  Plan base_; // what no axis says
  std::int64_t chips_, batch_, layers_;
  int node_chips_;
  bool experts_;
  std::vector<PlanCell> cells_;
};

/// Puts `plan` into `scenario`, and what follows from it: the padded vocabulary, the places of
/// embedding and head. `vocabulary` is the unpadded one.
void adopt(Scenario& scenario, const Plan& plan, std::int64_t vocabulary);

} // namespace clustersim
