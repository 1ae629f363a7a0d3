#include "report/validation.hpp"

#include "base/text.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

Json figures_json(const ErrorFigures& figures) {
  return {{"rows", figures.rows},
          {"failed", figures.failed},
          {"skipped", figures.skipped},
          {"mape", number_or_null<Json>(figures.mape)},
          {"median_ape", number_or_null<Json>(figures.median_ape)},
          {"bias", number_or_null<Json>(figures.bias)},
          {"p90_ape", number_or_null<Json>(figures.p90_ape)},
          {"in_range", number_or_null<Json>(figures.in_range)}};
}

Json row_json(const ValidatedRow& row) {
  Json out{{"index", row.index}, {"id", row.id}, {"quantity", row.quantity}, {"unit", row.unit}};
  out["predicted"] = number_or_null<Json>(row.predicted);
  out["low"] = number_or_null<Json>(row.low);
  out["high"] = number_or_null<Json>(row.high);
  out["measured"] = number_or_null<Json>(row.measured);
  out["ratio"] = number_or_null<Json>(row.ratio);
  out["status"] = name_of(row.status);
  out["reason"] = row.reason;
  out["assumptions"] = row.assumptions;
  if (!row.labels.stack.empty()) out["stack"] = row.labels.stack;
  return out;
}

Json summary_json(const std::vector<QuantitySummary>& summary) {
  Json out = Json::object();
  for (const QuantitySummary& one : summary) {
    out[one.quantity] = figures_json(one.figures);
  }
  return out;
}

Json groups_json(const std::vector<ErrorGroup>& groups) {
  Json out = Json::array();
  for (const ErrorGroup& group : groups) {
    Json entry{{"by", group.by}, {"name", group.name}, {"quantity", group.quantity}};
    entry.update(figures_json(group.figures));
    out.push_back(std::move(entry));
  }
  return out;
}

} // namespace

std::string render_validate_json(const ValidationReport& report, std::string_view version) {
  Json out{{"schema", "clustersim.validate/1"}, {"version", version}};
  out["files"] = Json::array();
  for (const ValidatedFile& file : report.files) {
    Json rows = Json::array();
    for (const ValidatedRow& row : file.rows) {
      rows.push_back(row_json(row));
    }
    out["files"].push_back({{"path", file.path},
                            {"kind", file.kind},
                            {"rows", std::move(rows)},
                            {"summary", summary_json(file.summary)},
                            {"groups", groups_json(file.groups)}});
  }
  out["summary"] = summary_json(report.summary);
  out["groups"] = groups_json(report.groups);
  return to_text(out);
}

std::string render_validate_csv(const ValidationReport& report) {
  const auto number = [](const std::optional<double>& value) {
    return value ? shortest(*value) : std::string{};
  };
  std::string out =
      "path,kind,index,id,quantity,unit,predicted,low,high,measured,ratio,status,reason\n";
  for (const ValidatedFile& file : report.files) {
    for (const ValidatedRow& row : file.rows) {
      out +=
          csv_line({file.path, file.kind, std::to_string(row.index), row.id, row.quantity, row.unit,
                    number(row.predicted), number(row.low), number(row.high), number(row.measured),
                    number(row.ratio), std::string{name_of(row.status)}, row.reason});
    }
  }
  return out;
}

} // namespace clustersim
