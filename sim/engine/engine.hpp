#pragma once
// The two engines by name.

#include "engine/analytic.hpp"
#include "engine/event.hpp"

#include <string_view>

namespace clustersim {

enum class Engine { analytic, event };
[[nodiscard]] constexpr std::string_view name_of(Engine engine) {
  return engine == Engine::analytic ? "analytic" : "event";
}

[[nodiscard]] inline Seconds step_time(const StepProgram& program, CostModel& cost, Engine engine) {
  return engine == Engine::analytic ? step_time(program, cost) : event_step_time(program, cost);
}

} // namespace clustersim
