#include "plan/step_program.hpp"

#include "base/bug.hpp"

namespace clustersim {

std::string_view name_of(Axis axis) {
  switch (axis) {
  case Axis::tensor:
    return "tensor";
  case Axis::context:
    return "context";
  case Axis::expert:
    return "expert";
  case Axis::data:
    return "data";
  case Axis::pipeline:
    return "pipeline";
  }
  throw Bug("unknown axis");
}

} // namespace clustersim
