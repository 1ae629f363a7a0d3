#include "spec/constants.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "spec/schemas.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::string_view attention_table = "attention.";
constexpr std::string_view library_table = "gemm.library.";
constexpr std::string_view memory_table = "memory.library.";
constexpr int digits_written = 4;

bool is_fitted_type(const FieldInfo& info) {
  return info.type == "number" || info.type == "time" || info.type == "size";
}

const Field<KernelCalibration>* find_field(std::string_view key) {
  const auto& fields = calibration_schema().fields;
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto& field) { return field.info.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

/// "flash-2.forward.128" taken apart; the kernel's own name may hold dots.
struct AttentionKey {
  std::string_view kernel, member;
  int head_dim = 0; // of forward and backward
};

AttentionKey attention_key(std::string_view key) {
  AttentionKey out;
  std::string_view rest = key.substr(attention_table.size());
  const std::size_t last = rest.rfind('.');
  const std::string_view tail = last == std::string_view::npos ? "" : rest.substr(last + 1);
  const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), out.head_dim);
  if (error == std::errc() && end == tail.data() + tail.size()) {
    rest = rest.substr(0, last);
  }
  const std::size_t dot = rest.rfind('.');
  out.kernel = rest.substr(0, dot);
  out.member = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  return out;
}

void set_attention(KernelCalibration& calibration, std::string_view key, double value) {
  const AttentionKey wanted = attention_key(key);
  const auto rate = std::find_if(calibration.attention.begin(), calibration.attention.end(),
                                 [&](const auto& r) { return r.kernel == wanted.kernel; });
  if (rate == calibration.attention.end()) {
    throw Bug("no attention kernel for the constant " + std::string(key));
  }
  if (wanted.member == "start") {
    rate->start = Seconds{value};
  } else if (wanted.member == "wave") {
    rate->wave = Seconds{value};
  } else if (wanted.member == "forward") {
    rate->forward[wanted.head_dim] = value;
  } else if (wanted.member == "backward") {
    rate->backward[wanted.head_dim] = value;
  } else {
    throw Bug("no constant " + std::string(key));
  }
}

void add_attention(const AttentionRate& rate, std::vector<CalibrationConstant>& out) {
  const std::string prefix = std::string(attention_table) + rate.kernel + ".";
  const auto shares = [&](const char* name, const std::map<int, double>& by_head_dim) {
    for (const auto& [head_dim, share] : by_head_dim) {
      out.push_back({fmt::format("{}{}.{}", prefix, name, head_dim), "1",
                     fmt::format("share of the matrix peak, {}, head dimension {}", name, head_dim),
                     1e-4, 1.0, share});
    }
  };
  shares("forward", rate.forward);
  shares("backward", rate.backward);
  out.push_back({prefix + "start", "s", "start and drain", 0.0, 1.0, rate.start.si()});
  out.push_back({prefix + "wave", "s", "per wave of query blocks", 0.0, 1.0, rate.wave.si()});
}

/// "gemm.library.trtllm.fp8.unit", "memory.library.vllm-2023.norm.fraction" taken apart; the
/// library's own name may hold dots.
struct LibraryKey {
  std::string_view name, variant, member; // variant: precision, or class of kernels
};

LibraryKey library_key(std::string_view table, std::string_view key) {
  std::string_view rest = key.substr(table.size());
  LibraryKey out;
  for (std::string_view* part : {&out.member, &out.variant}) {
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos) {
      return {};
    }
    *part = rest.substr(dot + 1);
    rest = rest.substr(0, dot);
  }
  out.name = rest;
  return out;
}

void set_library(KernelCalibration& calibration, std::string_view key, double value) {
  const LibraryKey wanted = library_key(library_table, key);
  auto& all = calibration.gemm.libraries;
  const auto library = std::find_if(all.begin(), all.end(), [&](const GemmLibrary& one) {
    return one.name == wanted.name && name_of(one.precision) == wanted.variant;
  });
  if (library == all.end()) {
    throw Bug("no library for the constant " + std::string(key));
  }
  if (wanted.member == "unit") {
    library->unit = value;
  } else if (wanted.member == "sustained") {
    library->sustained = value;
  } else if (wanted.member == "burst") {
    library->burst = value;
  } else if (wanted.member == "start") {
    library->start = Seconds{value};
  } else if (wanted.member == "cast") {
    library->cast = value;
  } else {
    throw Bug("no constant " + std::string(key));
  }
}

/// Figures that an entry leaves to the family stay the family's: they are fitted as such.
void add_library(const GemmLibrary& library, std::vector<CalibrationConstant>& out) {
  const std::string prefix =
      fmt::format("{}{}.{}.", library_table, library.name, name_of(library.precision));
  const auto share = [&](const char* name, const char* help, const std::optional<double>& value) {
    if (value) {
      out.push_back({prefix + name, "1", help, 1e-4, 1.0, value});
    }
  };
  share("unit", "share of its peak that a unit reaches", library.unit);
  share("sustained", "share of the peak under load", library.sustained);
  share("burst", "share of the peak in a few replays", library.burst);
  if (library.start) {
    out.push_back({prefix + "start", "s", "start, drain and quantisation's launches", 0.0, 1.0,
                   library.start->si()});
  }
  share("cast", "share of memory bandwidth that quantising A reaches",
        library.cast > 0 ? std::optional(library.cast) : std::nullopt);
}

void set_memory_library(KernelCalibration& calibration, std::string_view key, double value) {
  const LibraryKey wanted = library_key(memory_table, key);
  auto& all = calibration.memory.libraries;
  const auto library = std::find_if(all.begin(), all.end(), [&](const MemoryLibrary& one) {
    return one.name == wanted.name && name_of(one.kernel_class) == wanted.variant;
  });
  if (library == all.end()) {
    throw Bug("no library for the constant " + std::string(key));
  }
  if (wanted.member == "fraction") {
    library->fraction = value;
  } else if (wanted.member == "unit_bytes") {
    library->unit_bytes = value;
  } else if (wanted.member == "resident") {
    library->resident = value;
  } else if (wanted.member == "start") {
    library->start = Seconds{value};
  } else if (wanted.member == "floor") {
    library->floor = Seconds{value};
  } else {
    throw Bug("no constant " + std::string(key));
  }
}

/// What an entry does not limit (no bytes per clock, no floor) stays without a limit.
void add_memory_library(const MemoryLibrary& library, std::vector<CalibrationConstant>& out) {
  const std::string prefix =
      fmt::format("{}{}.{}.", memory_table, library.name, name_of(library.kernel_class));
  out.push_back(
      {prefix + "fraction", "1", "share of memory bandwidth", 1e-4, 1.0, library.fraction});
  if (library.unit_bytes > 0) {
    out.push_back({prefix + "unit_bytes", "1", "most that a unit moves per clock", 0.0, 4096.0,
                   library.unit_bytes});
  }
  out.push_back({prefix + "resident", "1", "rate on tensors that fit in L2, against memory", 1e-4,
                 16.0, library.resident});
  out.push_back(
      {prefix + "start", "s", "start, drain and the host's part", 0.0, 1.0, library.start.si()});
  if (library.floor.si() > 0) {
    out.push_back({prefix + "floor", "s", "least time of a call", 0.0, 1.0, library.floor.si()});
  }
}

Tree tree_of(const CalibrationConstant& constant, double value) {
  Tree tree;
  if (constant.unit == "1") {
    tree.type = TreeType::real;
    tree.real = value;
  } else {
    tree.type = TreeType::string;
    tree.string = shortest(value) + " " + constant.unit;
  }
  return tree;
}

CalibrationConstant constant_of(const FieldInfo& info, const std::optional<Shown>& shown) {
  CalibrationConstant constant{info.key, "1", info.help, info.low, info.high, std::nullopt};
  constant.unit = info.type == "time" ? "s" : info.type == "size" ? "B" : "1";
  if (shown && shown->number) {
    constant.value = *shown->number;
  }
  return constant;
}

} // namespace

std::vector<CalibrationConstant> constants_of(const KernelCalibration& calibration) {
  std::vector<CalibrationConstant> out;
  for (const auto& field : calibration_schema().fields) {
    if (field.info.key == "attention") {
      for (const AttentionRate& rate : calibration.attention) {
        add_attention(rate, out);
      }
    } else if (field.info.key == "gemm.library") {
      for (const GemmLibrary& library : calibration.gemm.libraries) {
        add_library(library, out);
      }
    } else if (field.info.key == "memory.library") {
      for (const MemoryLibrary& library : calibration.memory.libraries) {
        add_memory_library(library, out);
      }
    } else if (is_fitted_type(field.info)) {
      out.push_back(constant_of(field.info, field.show(calibration)));
    }
  }
  return out;
}

void set_constant(KernelCalibration& calibration, std::string_view key, double value) {
  if (key.starts_with(attention_table)) {
    set_attention(calibration, key, value);
    return;
  }
  if (key.starts_with(library_table)) {
    set_library(calibration, key, value);
    return;
  }
  if (key.starts_with(memory_table)) {
    set_memory_library(calibration, key, value);
    return;
  }
  const auto* field = find_field(key);
  Diagnostics complaints;
  ReadContext context{complaints, ""};
  if (field == nullptr || !is_fitted_type(field->info)) {
    throw Bug("no constant " + std::string(key));
  }
  const Tree tree = tree_of(constant_of(field->info, std::nullopt), value);
  if (!field->read({tree, field->info, context}, calibration)) {
    throw Bug(fmt::format("{} cannot be {}", key, value));
  }
}

std::vector<std::string> path_of(const std::string& key) {
  for (const std::string_view table : {library_table, memory_table}) {
    if (key.starts_with(table)) {
      const LibraryKey parts = library_key(table, key);
      std::vector<std::string> path = split(std::string(table.substr(0, table.size() - 1)), '.');
      for (const std::string_view part : {parts.name, parts.variant, parts.member}) {
        path.emplace_back(part);
      }
      return path;
    }
  }
  if (!key.starts_with(attention_table)) {
    return split(key, '.');
  }
  const AttentionKey parts = attention_key(key);
  std::vector<std::string> path{"attention", std::string(parts.kernel), std::string(parts.member)};
  if (parts.head_dim > 0) {
    path.push_back(std::to_string(parts.head_dim));
  }
  return path;
}

std::string constant_text(const CalibrationConstant& constant, double value) {
  if (constant.unit == "s") {
    return format_quantity(Seconds{value}, digits_written);
  }
  if (constant.unit == "B") {
    return format_quantity(Bytes{value}, digits_written);
  }
  return fmt::format("{:.{}g}", value, digits_written);
}

double as_written(const CalibrationConstant& constant, double value) {
  const std::string text = constant_text(constant, value);
  UnitError error;
  if (constant.unit == "s") {
    return parse_quantity<Seconds>(text, error).value_or(Seconds{value}).si();
  }
  if (constant.unit == "B") {
    return parse_quantity<Bytes>(text, error).value_or(Bytes{value}).si();
  }
  double number = value;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

} // namespace clustersim
