#pragma once
// The event engine's timeline as a Chrome trace: Perfetto and chrome://tracing open it
// (docs/explanation/event-engine.md).
//
// A process is a pipeline stage, a thread one of its streams. Counters: the share of its capacity
// that the busiest edge of each link class carries, and the memory of the stage.

#include "pipeline.hpp"

#include <string>

namespace clustersim {

/// Of an answer whose event engine kept spans.
[[nodiscard]] std::string render_trace(const Answer& answer);

} // namespace clustersim
