#include "report/answer_sections.hpp"

#include "base/bug.hpp"

namespace clustersim {

std::string_view name_of(Origin origin) {
  switch (origin) {
  case Origin::file:
    return "file";
  case Origin::command_line:
    return "command line";
  case Origin::default_value:
    return "default";
  case Origin::catalogue:
    return "catalogue";
  case Origin::inferred:
    return "inferred";
  case Origin::calibration:
    return "calibration";
  }
  throw Bug("origin outside its enumeration");
}

std::string render_text(const Answer& answer, TextStyle style) {
  const Figures figures = figures_of(answer);
  std::string out = first_screen(answer, figures, style);
  if (style.detail == Detail::brief) {
    return out;
  }
  if (!answer.memory.fits()) {
    out += remedies_section(answer, style);
  }
  out += parts_section(answer, figures, style);
  out += engines_section(answer, style);
  out += partitions_section(answer, style);
  out += sensitivity_section(answer.explanation, style);
  out += energy_section(answer, figures, style);
  if (style.detail == Detail::full) {
    out += operators_section(answer.timeline, style);
  }
  out += notes_section(answer, style);
  out += inputs_section(answer.scenario, style);
  return out;
}

} // namespace clustersim
