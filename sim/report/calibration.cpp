#include "report/calibration.hpp"

#include "report/json_writer.hpp"

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

Json errors_json(const CalibrationErrors& errors) {
  const ErrorFigures& figures = errors.figures;
  return {{"mape", number_or_null<Json>(figures.mape)},
          {"median_ape", number_or_null<Json>(figures.median_ape)},
          {"bias", number_or_null<Json>(figures.bias)},
          {"p90_ape", number_or_null<Json>(figures.p90_ape)},
          {"mean_abs_log", number_or_null<Json>(errors.log)}};
}

Json file_json(const CalibratedFile& file) {
  Json unusable = Json::object();
  for (const auto& [reason, count] : file.unusable) {
    unusable[reason] = count;
  }
  return {{"path", file.path},
          {"kind", file.kind},
          {"rows", file.rows},
          {"used", file.used},
          {"other_chips", file.other_chips},
          {"unusable", std::move(unusable)}};
}

Json fitted_json(const FittedConstant& fitted) {
  return {{"key", fitted.constant.key},
          {"unit", fitted.constant.unit == "1" ? "" : fitted.constant.unit},
          {"before", number_or_null<Json>(fitted.constant.value)},
          {"after", fitted.value},
          {"text", constant_text(fitted.constant, fitted.value)},
          {"standard_error", fitted.standard_error},
          {"distinct_rows", fitted.points},
          {"at_limit", fitted.at_limit}};
}

Json held_json(const std::vector<HeldConstant>& constants) {
  Json out = Json::array();
  for (const HeldConstant& held : constants) {
    out.push_back({{"key", held.constant.key},
                   {"unit", held.constant.unit == "1" ? "" : held.constant.unit},
                   {"value", number_or_null<Json>(held.constant.value)},
                   {"distinct_rows", held.points},
                   {"reason", held.reason},
                   {"measure", held.measure}});
  }
  return out;
}

Json row_json(const CalibratedRow& row, bool fitted) {
  Json out{{"file", row.file}, {"index", row.index},       {"id", row.id},
           {"unit", row.unit}, {"measured", row.measured}, {"before", row.before}};
  out["after"] = fitted ? Json(row.after) : Json(nullptr);
  out["left_out"] = fitted ? Json(row.left_out) : Json(nullptr);
  return out;
}

} // namespace

std::string render_calibration_json(const CalibrationFit& fit, std::string_view version) {
  Json out{{"schema", "clustersim.calibrate/1"},
           {"version", version},
           {"chip", fit.chip},
           {"family", fit.family},
           {"status", fit.refused() ? "under-determined" : "fitted"}};
  out["files"] = Json::array();
  for (const CalibratedFile& file : fit.files) {
    out["files"].push_back(file_json(file));
  }
  out["constants"] = Json::array();
  for (const FittedConstant& fitted : fit.fitted) {
    out["constants"].push_back(fitted_json(fitted));
  }
  out["held"] = held_json(fit.held);
  out["undetermined"] = held_json(fit.undetermined);
  out["confirmed"] = Json::array();
  for (const CalibrationConstant& constant : fit.confirmed) {
    out["confirmed"].push_back(constant.key);
  }
  out["distinct_rows"] = fit.points;
  out["condition"] = fit.refused() ? Json(nullptr) : Json(fit.condition);
  out["prior"] = fit.prior > 0 ? Json(fit.prior) : Json(nullptr);
  out["unmoved_rows"] = fit.unmoved;
  out["errors"] = {{"before", errors_json(fit.before)},
                   {"after", errors_json(fit.after)},
                   {"left_out", errors_json(fit.left_out)}};
  out["rows"] = Json::array();
  for (const CalibratedRow& row : fit.rows) {
    out["rows"].push_back(row_json(row, !fit.refused()));
  }
  return to_text(out);
}

} // namespace clustersim
