#include "report/roofline.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"
#include "law/roofline.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

void add_roofs(Roofline& out, std::string_view units, const PrecisionTable<FlopsPerSecond>& peaks,
               std::optional<Precision> only) {
  for (const Precision precision : all_precisions) {
    if (!peaks[precision] || (only && *only != precision)) {
      continue;
    }
    ComputeRoof roof{std::string{units}, precision, *peaks[precision], {}};
    for (const MemoryRoof& memory : out.memory) {
      roof.ridges.push_back(ridge_point(roof.peak, memory.bandwidth));
    }
    out.compute.push_back(std::move(roof));
  }
}

Json roofline_json(const Roofline& chip) {
  Json out{{"id", chip.id}, {"name", chip.name}};
  out["memory"] = Json::array();
  for (const MemoryRoof& memory : chip.memory) {
    out["memory"].push_back(
        {{"level", memory.level}, {"bandwidth_bytes_per_s", memory.bandwidth.si()}});
  }
  out["roofs"] = Json::array();
  for (const ComputeRoof& roof : chip.compute) {
    Json row{{"units", roof.units}, {"precision", name_of(roof.precision)}};
    row["peak_flops_per_s"] = roof.peak.si();
    row["ridge_flops_per_byte"] = Json::object();
    for (std::size_t i = 0; i < roof.ridges.size(); ++i) {
      row["ridge_flops_per_byte"][chip.memory[i].level] = roof.ridges[i].si();
    }
    out["roofs"].push_back(std::move(row));
  }
  return out;
}

} // namespace

Roofline roofline_of(const Chip& chip, std::optional<Precision> only) {
  Roofline out{chip.id, chip.name, {}, {}};
  out.memory.push_back(
      {chip.memory.type.empty() ? "DRAM" : chip.memory.type, chip.memory.bandwidth});
  if (chip.l2.capacity > Bytes{0} && chip.l2.bandwidth > chip.memory.bandwidth) {
    out.memory.push_back({"L2", chip.l2.bandwidth});
  }
  if (out.memory.front().bandwidth <= BytesPerSecond{0}) {
    throw Bug("a chip without memory bandwidth passed validation");
  }
  add_roofs(out, "matrix", chip.matrix, only);
  add_roofs(out, "vector", chip.vector, only);
  std::stable_sort(out.compute.begin(), out.compute.end(),
                   [](const ComputeRoof& a, const ComputeRoof& b) { return a.peak > b.peak; });
  return out;
}

std::string render_roofline_json(const std::vector<Roofline>& chips, std::string_view version) {
  Json out{{"schema", "clustersim.roofline/1"}, {"version", version}};
  out["chips"] = Json::array();
  for (const Roofline& chip : chips) {
    out["chips"].push_back(roofline_json(chip));
  }
  return to_text(out);
}

std::string render_roofline_csv(const std::vector<Roofline>& chips) {
  std::string out = "chip,units,precision,peak_flops_per_s,level,bandwidth_bytes_per_s,"
                    "ridge_flops_per_byte\n";
  for (const Roofline& chip : chips) {
    for (const ComputeRoof& roof : chip.compute) {
      for (std::size_t i = 0; i < roof.ridges.size(); ++i) {
        out += csv_line({chip.id, roof.units, std::string{name_of(roof.precision)},
                         shortest(roof.peak.si()), chip.memory[i].level,
                         shortest(chip.memory[i].bandwidth.si()), shortest(roof.ridges[i].si())});
      }
    }
  }
  return out;
}

} // namespace clustersim
