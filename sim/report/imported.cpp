#include "report/imported.hpp"

#include "report/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace clustersim {

std::string render_import_text(const ImportSummary& summary) {
  std::string out = summary.toml;
  // Comments, so that what is printed is still a transformer file.
  out += fmt::format("# parameters: {} in all, {} active, {} in embedding tables\n",
                     summary.count.total, summary.count.active, summary.count.tables);
  for (const auto& [head, list] : {std::pair{"inferred", &summary.inferred},
                                   {"defaulted", &summary.defaulted},
                                   {"ignored", &summary.ignored}}) {
    if (!list->empty()) {
      out += fmt::format("# {}: {}\n", head, fmt::join(*list, ", "));
    }
  }
  return out;
}

std::string render_import_json(const ImportSummary& summary, std::string_view version) {
  nlohmann::ordered_json out;
  out["schema"] = "clustersim.import/1";
  out["version"] = version;
  out["params_total"] = summary.count.total;
  out["params_active"] = summary.count.active;
  out["params_embedding"] = summary.count.tables;
  out["inferred"] = summary.inferred;
  out["defaulted"] = summary.defaulted;
  out["ignored"] = summary.ignored;
  return to_text(out);
}

} // namespace clustersim
