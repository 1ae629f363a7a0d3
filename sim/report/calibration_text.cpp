#include "base/text.hpp"
#include "report/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t worst_shown = 5;

std::string in_percent(const std::optional<double>& value, bool with_sign = false) {
  return !value      ? "-"
         : with_sign ? fmt::format("{:+.1f} %", *value)
                     : fmt::format("{:.1f} %", *value);
}

std::string before_text(const CalibrationConstant& constant) {
  return constant.value ? constant_text(constant, *constant.value) : "absent";
}

std::string files_section(const CalibrationFit& fit, TextStyle style) {
  std::string out;
  for (const CalibratedFile& file : fit.files) {
    out += fmt::format("{}: {}, {} of {} used\n", printable(file.path), file.kind,
                       grouped(file.used), counted(file.rows, "row"));
    if (file.other_chips > 0) {
      out += paint(Ink::dim, pad_left(grouped(file.other_chips), 8) + " of other chips\n", style);
    }
    for (const auto& [reason, count] : file.unusable) {
      out += paint(Ink::dim, hanging(pad_left(grouped(count), 8) + " skipped: ", printable(reason)),
                   style);
    }
  }
  const auto used = static_cast<std::int64_t>(fit.rows.size());
  if (fit.points < used) {
    out += hanging(pad_left(grouped(used - fit.points), 8) + " ",
                   "repeat a configuration: each counts once, at its median");
  }
  if (fit.unmoved > 0) {
    out += hanging(pad_left(grouped(fit.unmoved), 8) + " ",
                   "rows whose prediction no constant of a calibration moves");
  }
  return out;
}

std::string constants_section(const CalibrationFit& fit, TextStyle style) {
  if (fit.fitted.empty()) {
    return "\n" + hanging("  ", "Nothing to fit: no constant at another value predicts rows left "
                                "out better, by more than luck. The catalogue's stand.");
  }
  std::vector<std::vector<std::string>> rows;
  for (const FittedConstant& fitted : fit.fitted) {
    rows.push_back({fitted.constant.key, before_text(fitted.constant),
                    constant_text(fitted.constant, fitted.value),
                    fmt::format("{:.1f} %", fitted.standard_error * 100.0), grouped(fitted.points),
                    fitted.at_limit ? "at the limit of what it may be" : ""});
  }
  return "\n" + table({{"constant"},
                       {"before", Align::right},
                       {"fitted", Align::right},
                       {"within", Align::right},
                       {"distinct rows", Align::right},
                       {""}},
                      rows, style);
}

std::string held_section(const CalibrationFit& fit, TextStyle style) {
  std::string out;
  for (const HeldConstant& held : fit.held) {
    out += hanging("  ", fmt::format("{} stays {}: {}{}", held.constant.key,
                                     before_text(held.constant), held.reason,
                                     held.measure.empty() ? "" : "; measure " + held.measure));
  }
  return out.empty() ? "" : "\n" + paint(Ink::bold, "Not fitted", style) + "\n" + out;
}

std::string confirmed_section(const CalibrationFit& fit, TextStyle style) {
  std::string keys;
  for (const CalibrationConstant& constant : fit.confirmed) {
    keys += (keys.empty() ? "" : ", ") + constant.key;
  }
  if (keys.empty()) {
    return "";
  }
  const auto count = static_cast<std::int64_t>(fit.confirmed.size());
  return "\n" +
         hanging("  ", style.detail == Detail::full
                           ? "Tested, and no better elsewhere: " + keys
                           : fmt::format("{} tested, and no better elsewhere (-v names them).",
                                         counted(count, "more constant")));
}

std::string refusal(const CalibrationFit& fit, TextStyle style) {
  std::string out = "\n" + paint(Ink::bad, "Under-determined: nothing is fitted", style) + "\n";
  for (const HeldConstant& one : fit.undetermined) {
    out += hanging("  ", fmt::format("{}: {}", one.constant.key, one.reason));
    out += hanging("    measure ", one.measure);
    out += hanging("    ", fmt::format("or leave it as it is: --hold {}", one.constant.key));
  }
  if (fit.rows.empty()) {
    out +=
        hanging("  ", fmt::format("no row of these files is a usable measurement of {}", fit.chip));
  } else if (fit.undetermined.empty()) {
    out += hanging("  ", "no constant that may be fitted moves these rows");
  }
  return out;
}

std::vector<std::string> errors_row(std::string name, const CalibrationErrors& errors) {
  const ErrorFigures& figures = errors.figures;
  return {std::move(name),
          in_percent(errors.log),
          in_percent(figures.mape),
          in_percent(figures.median_ape),
          in_percent(figures.bias, true),
          in_percent(figures.p90_ape)};
}

std::string errors_section(const CalibrationFit& fit, TextStyle style) {
  std::vector<std::vector<std::string>> rows{errors_row("before", fit.before)};
  if (!fit.refused() && !fit.fitted.empty()) {
    rows.push_back(errors_row("fitted", fit.after));
    rows.push_back(errors_row("each row left out", fit.left_out));
  }
  const auto count = static_cast<std::int64_t>(fit.rows.size());
  return "\n" + table({{fmt::format("error of {}", counted(count, "row"))},
                       {"|ln|", Align::right},
                       {"mean", Align::right},
                       {"median", Align::right},
                       {"bias", Align::right},
                       {"p90", Align::right}},
                      rows, style);
}

std::string worst_section(const CalibrationFit& fit, TextStyle style) {
  std::vector<const CalibratedRow*> worst;
  for (const CalibratedRow& row : fit.rows) {
    worst.push_back(&row);
  }
  std::stable_sort(worst.begin(), worst.end(), [](const auto* a, const auto* b) {
    return std::fabs(std::log(a->after)) > std::fabs(std::log(b->after));
  });
  if (style.detail != Detail::full && worst.size() > worst_shown) {
    worst.resize(worst_shown);
  }
  std::vector<std::vector<std::string>> rows;
  for (const CalibratedRow* row : worst) {
    rows.push_back({std::to_string(row->index), signed_percent(row->before - 1.0),
                    signed_percent(row->after - 1.0), elide(printable(row->id), 52, style)});
  }
  return "\n" + table({{"worst row", Align::right},
                       {"before", Align::right},
                       {"fitted", Align::right},
                       {"id"}},
                      rows, style);
}

} // namespace

std::string render_calibration_text(const CalibrationFit& fit, TextStyle style) {
  std::string out =
      paint(Ink::bold, fmt::format("Calibration of {} ({})", fit.chip_name, fit.chip), style) +
      "\n" + files_section(fit, style);
  if (fit.refused()) {
    out += refusal(fit, style);
    return fit.rows.empty() ? out : out + errors_section(fit, style);
  }
  out += constants_section(fit, style);
  if (style.detail == Detail::brief) {
    return out + errors_section(fit, style);
  }
  if (fit.prior > 0) {
    out += "\n" + hanging("  ", fmt::format("Held towards the values before: {} per constant.",
                                            percent(fit.prior)));
  }
  out += held_section(fit, style) + confirmed_section(fit, style) + errors_section(fit, style);
  if (!fit.fitted.empty() && fit.left_out.log.value_or(0.0) >= fit.before.log.value_or(0.0)) {
    out += hanging("  ", "Rows left out are predicted no better than before: these rows tell "
                         "nothing new.");
  }
  return out + worst_section(fit, style);
}

} // namespace clustersim
