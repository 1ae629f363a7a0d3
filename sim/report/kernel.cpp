#include "report/kernel.hpp"

#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"
#include "report/kernel_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& row, const KernelField& field) {
  std::visit([&](const auto& value) { row[std::string(field.key)] = value; }, field.value);
}

} // namespace

std::string render_kernel_json(const std::vector<KernelAnswer>& answers, std::string_view version) {
  Json out{{"schema", "clustersim.kernel/1"}, {"version", version}};
  out["kernel"] = answers.empty() ? "" : kernel_name(answers.front().shape);
  Json rows = Json::array(), notes = Json::array();
  for (const KernelAnswer& answer : answers) {
    Json row = Json::object();
    for (const std::vector<KernelField>& fields : {asked(answer), found(answer)}) {
      for (const KernelField& field : fields) {
        put(row, field);
      }
    }
    rows.push_back(std::move(row));
    for (const std::string& note : answer.notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back(note);
      }
    }
  }
  out["notes"] = std::move(notes);
  out["rows"] = std::move(rows);
  return to_text(out);
}

std::string render_kernel_csv(const std::vector<KernelAnswer>& answers) {
  std::string out;
  for (const KernelAnswer& answer : answers) {
    std::vector<std::string> keys, values;
    for (const std::vector<KernelField>& fields : {asked(answer), found(answer)}) {
      for (const KernelField& field : fields) {
        keys.emplace_back(field.key);
        values.push_back(text_of(field));
      }
    }
    out += (out.empty() ? csv_line(keys) : "") + csv_line(values);
  }
  return out;
}

} // namespace clustersim
