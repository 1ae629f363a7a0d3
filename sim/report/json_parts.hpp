#pragma once
// Internal to this folder: what the reports of training and of serving say in the same words.

#include "report/figures.hpp"
#include "report/json_writer.hpp"

#include <string_view>
#include <utility>

namespace clustersim {

template <class Json>
Json bottleneck_json(const Explanation& explanation) {
  Json out{{"resource", explanation.resource}, {"verdict", explanation.verdict}};
  out["elasticities"] = Json::object();
  out["doubled"] = Json::object();
  for (const Elasticity& elasticity : explanation.elasticities) {
    out["elasticities"][elasticity.resource] = elasticity.value;
    out["doubled"][elasticity.resource] = elasticity.doubled;
  }
  return out;
}

inline std::string_view spelled(Phase phase) {
  switch (phase) {
  case Phase::forward:
    return "forward";
  case Phase::recompute:
    return "recompute";
  case Phase::backward:
    return "backward";
  case Phase::gradient:
    return "gradient";
  case Phase::optimizer:
    return "optimizer";
  }
  throw Bug("phase outside its enumeration");
}

template <class Json>
Json operators_json(const Timeline& timeline) {
  Json out = Json::array();
  for (const OpRecord& op : timeline.ops) {
    Json row{{"block", op.block}, {"name", op.name}, {"phase", spelled(op.phase)}};
    row["calls"] = op.calls;
    row["device_s"] = op.each.device.si();
    row["host_s"] = op.each.host.si();
    row["total_s"] = total_time(op).si();
    row["energy_j"] = op.each.work.si();
    row["model_flops"] = op.model_flops.si();
    if (op.axis) {
      const CollectiveForm* form = op.each.collective.form;
      row["axis"] = name_of(*op.axis);
      row["algorithm"] = form == nullptr ? "" : form->algorithm;
      row["protocol"] = form == nullptr ? "" : form->protocol;
      row["hidden"] = op.hidden;
    } else {
      row["roof"] = name_of(op.each.kernel.binding);
      row["flops"] = op.each.kernel.flops.si();
      row["traffic_bytes"] = op.each.kernel.traffic.si();
    }
    out.push_back(std::move(row));
  }
  return out;
}

} // namespace clustersim
