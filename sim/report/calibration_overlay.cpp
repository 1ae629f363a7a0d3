#include "base/bug.hpp"
#include "base/text.hpp"
#include "report/calibration.hpp"
#include "spec/rewrite.hpp"

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string dotted(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& word : path) {
    out += (out.empty() ? "" : ".") + toml_key(printable(word));
  }
  return out;
}

std::string files_of(const CalibrationFit& fit, bool as_list) {
  std::string out;
  for (const CalibratedFile& file : fit.files) {
    if (file.used > 0) {
      out += (out.empty() ? "" : ", ") + (as_list ? toml_string(printable(file.path)) : file.path);
    }
  }
  return out;
}

std::string error_line(std::string_view key, const CalibrationErrors& errors) {
  return fmt::format("{:<14} = {:.2f}\n", key, errors.figures.mape.value_or(0.0));
}

std::string constant_line(const FittedConstant& fitted) {
  const CalibrationConstant& constant = fitted.constant;
  const std::string text = constant_text(constant, fitted.value);
  const std::string value = constant.unit == "1" ? text : toml_string(printable(text));
  const std::vector<std::string> path = path_of(constant.key);
  const std::string before =
      constant.value ? constant_text(constant, *constant.value) + " before" : "absent before";
  const std::string note =
      fmt::format("{}; {}, within {:.1f} %", before, counted(fitted.points, "distinct row"),
                  fitted.standard_error * 100.0);
  const bool by_head_dim = path.front() == "attention" && path.size() == 4; // takes no note
  return by_head_dim ? fmt::format("{} = {} # {}\n", dotted(path), value, note)
                     : fmt::format("{} = {{ value = {}, note = {} }}\n", dotted(path), value,
                                   toml_string(printable(note)));
}

} // namespace

std::string render_overlay(const CalibrationFit& fit, std::string_view version,
                           std::string_view date) {
  if (fit.refused()) {
    throw Bug("an overlay of a refused fit");
  }
  const auto rows = static_cast<std::int64_t>(fit.rows.size());
  std::string out = fmt::format(
      "# Written by clustersim calibrate. Feed it to any verb with --calibration FILE, or to a\n"
      "# scenario with [calibration] use = \"FILE\".\n"
      "schema = 1\n"
      "title  = {}\n"
      "source = \"fit\"\n\n[sources]\n"
      "fit = {}\n\n[fit]\n"
      "program        = {}\n",
      toml_string(printable(fmt::format("{}, fitted to {}", fit.chip_name, counted(rows, "row")))),
      toml_string(printable(fmt::format("clustersim {} calibrate, {} of {}", version,
                                        counted(rows, "row"), files_of(fit, false)))),
      toml_string(printable(fmt::format("clustersim {}", version))));
  if (!date.empty()) {
    out += fmt::format("date           = {}\n", toml_string(printable(date)));
  }
  out += fmt::format("files          = [{}]\nrows           = {}\n", files_of(fit, true), rows);
  out += error_line("error_before", fit.before) + error_line("error_after", fit.after) +
         error_line("error_left_out", fit.left_out);
  out += fmt::format("\n[override.chip.{}.calibration]\n", toml_string(printable(fit.chip)));
  for (const FittedConstant& fitted : fit.fitted) {
    out += constant_line(fitted);
  }
  return out;
}

} // namespace clustersim
