#include "study/kernel_evidence.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "study/capped_rows.hpp"
#include "study/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace clustersim {
namespace {

constexpr double micro = 1e-6;

using Work = std::vector<KernelWork>;

Bytes tensor(double elements, double bytes_per_element) {
  return Bytes{elements * bytes_per_element};
}

Work gemm_work(RowReader& row) {
  GemmShape shape;
  shape.m = row.count("M");
  shape.n = row.count("N");
  shape.k = row.count("K");
  shape.batch = row.count_or("batch", 1);
  shape.precision = row.precision("precision");
  shape.output = row.precision("output");
  const std::string role = row.take("role").value_or("forward");
  if (role == "weight_gradient") {
    shape.role = GemmRole::weight_gradient;
  } else if (role == "data_gradient") {
    shape.role = GemmRole::data_gradient;
  }
  // The forward product is M × K by K × N; its gradients have the same three dimensions elsewhere.
  if (row.take("shape_of") == "layer") {
    if (shape.role == GemmRole::data_gradient) std::swap(shape.n, shape.k);
    if (shape.role == GemmRole::weight_gradient) {
      shape = {shape.n, shape.k, shape.m, shape.batch, shape.precision, shape.output, shape.role};
    }
  }
  shape.accumulate = row.take("accumulate") == "true";
  shape.grouped = row.take("grouped") == "true";
  Work work;
  if (const std::optional<double> bytes = row.amount("cast_bytes")) {
    const auto operand = static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                         static_cast<double>(shape.k);
    work.emplace_back(MemoryKernel{KernelClass::cast, tensor(operand, *bytes), {}, 1});
  }
  work.emplace_back(shape);
  return work;
}

Work attention_work(RowReader& row) {
  AttentionShape shape;
  shape.batch = row.count("batch");
  shape.queries = shape.keys = row.count("seqlen");
  shape.heads = row.count("heads");
  shape.kv_heads = row.count_or("kv_heads", shape.heads);
  shape.head_dim = row.count("head_dim_qk");
  shape.value_dim = row.count_or("head_dim_v", shape.head_dim);
  shape.causal = row.text("causal") != "0";
  shape.precision = row.precision("precision");
  Work work;
  if (const std::optional<double> bytes = row.amount("rope_bytes")) {
    const auto wide =
        static_cast<double>(shape.heads + shape.kv_heads) * static_cast<double>(shape.head_dim) +
        static_cast<double>(shape.kv_heads) * static_cast<double>(shape.value_dim);
    const auto tokens = static_cast<double>(shape.batch) * static_cast<double>(shape.queries);
    work.emplace_back(MemoryKernel{KernelClass::rope, tensor(tokens * wide, *bytes), {}, 1});
  }
  const std::string passes = row.take("passes").value_or("forward");
  for (const bool backward : {false, true}) {
    if (passes != (backward ? "forward" : "backward")) {
      shape.backward = backward;
      work.emplace_back(shape);
    }
  }
  return work;
}

/// Rows of "tokens=4096 hidden=8192 …" or "4096x8192"; 0 where the shape has another form.
std::int64_t rows_of_shape(std::string_view shape) {
  constexpr std::string_view tokens = "tokens=";
  if (shape.substr(0, tokens.size()) == tokens) {
    shape.remove_prefix(tokens.size());
  }
  const std::string_view digits = shape.substr(0, shape.find_first_not_of("0123456789"));
  std::int64_t rows = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rows);
  constexpr std::int64_t most = 1'000'000'000;
  return error == std::errc() && end != digits.data() ? std::min(rows, most) : 0;
}

Work memory_work(RowReader& row) {
  MemoryKernel kernel;
  const std::string name = row.take("class").value_or("");
  const std::optional<KernelClass> known = kernel_class_from(name);
  if (!known) {
    row.refuse(fmt::format("no rule gives a class of memory-bound kernels for '{}'",
                           printable(row.text("kernel"))));
  }
  kernel.kernel_class = known.value_or(KernelClass::elementwise);
  kernel.traffic = Bytes{row.amount_of("bytes_moved")};
  if (row.take("blocks") == "rows") {
    kernel.blocks = rows_of_shape(row.text("shape"));
  }
  const bool twice = row.take("passes") == "2";
  return twice ? Work{kernel, kernel} : Work{kernel};
}

/// Of a stream's traffic. A triad reads two arrays and writes one.
std::optional<double> written_share(std::string_view access) {
  if (access == "read") return 0.0;
  if (access == "write") return 1.0;
  if (access == "copy") return 0.5;
  if (access == "triad") return 1.0 / 3.0;
  return std::nullopt;
}

Work bandwidth_work(RowReader& row) {
  BandwidthProbe probe;
  const std::string level = row.take("level").value_or("");
  if (level != "dram" && level != "l2") {
    row.refuse(fmt::format("no rule says what '{}' reads", printable(row.text("level"))));
  }
  probe.level = level == "l2" ? BandwidthProbe::Level::l2 : BandwidthProbe::Level::dram;
  if (const std::optional<std::string> access = row.take("access")) {
    const std::optional<double> written = written_share(*access);
    if (!written) {
      row.refuse(fmt::format("'{}' is none of read, write, copy and triad", printable(*access)));
    }
    probe.written = written.value_or(0.5);
  }
  if (const std::optional<std::string> size = row.take("footprint")) {
    UnitError error;
    const std::optional<Bytes> bytes = parse_quantity<Bytes>(*size, error);
    if (!bytes) {
      row.refuse(error.message);
    }
    probe.footprint = bytes.value_or(Bytes{});
  }
  return {probe};
}

/// What is special about a kind: how a row's columns become work, and the factor to the unit of
/// `MeasuredKernel::measured`.
struct Reader {
  std::string_view kind;
  Work (*work)(RowReader&);
  std::string_view measured;
  double scale;
};

constexpr std::array<Reader, 4> readers{{{"gemm", gemm_work, "time_us", micro},
                                         {"attention", attention_work, "time_us", micro},
                                         {"kernels", memory_work, "time_us", micro},
                                         {"membw", bandwidth_work, "measured", 1.0}}};

const Reader* reader_of(const EvidenceKind& kind) {
  const auto* found = std::find_if(readers.begin(), readers.end(),
                                   [&](const Reader& reader) { return reader.kind == kind.name; });
  return found == readers.end() ? nullptr : found;
}

KernelSetting setting_of(RowReader& row) {
  KernelSetting setting;
  const std::string condition = row.take("condition").value_or("sustained");
  setting.occasion.condition = condition == "burst"  ? Condition::burst
                               : condition == "loop" ? Condition::loop
                                                     : Condition::sustained;
  const std::string data = row.take("data").value_or("random");
  setting.occasion.data = data == "easy"    ? OperandData::easy
                          : data == "still" ? OperandData::still
                                            : OperandData::random;
  setting.occasion.gemm_library = row.take("gemm_library").value_or("");
  setting.occasion.memory_library = row.take("memory_library").value_or("");
  const std::string gap = row.take("gap").value_or("stream");
  setting.gap = gap == "none"    ? LaunchGap::none
                : gap == "graph" ? LaunchGap::graph
                                 : LaunchGap::stream;
  if (const std::optional<double> cap = row.amount("cap_w")) {
    setting.cap = Watts{*cap};
  }
  for (const std::string& kernel : split(row.take("kernel").value_or(""), ' ')) {
    if (!kernel.empty()) {
      setting.attention_kernels.push_back(kernel);
    }
  }
  return setting;
}

KernelRow labelled(RowReader& row) {
  KernelRow result;
  result.id = printable(row.take("id").value_or(std::string(row.text("chip"))));
  result.chip = printable(row.text("chip"));
  result.precision = printable(row.text("precision"));
  result.library = printable(row.text("library"));
  result.condition = printable(row.text("condition"));
  return result;
}

KernelRow read_row(RowReader row, const Reader& reader) {
  KernelRow result = labelled(row);
  if (const std::optional<std::string> skip = row.skip()) {
    result.reason = *skip;
    return result;
  }
  MeasuredKernel kernel;
  kernel.row = row.index();
  kernel.chip = row.chip();
  kernel.setting = setting_of(row);
  kernel.work = reader.work(row);
  kernel.measured = row.amount_of(reader.measured) * reader.scale;
  kernel.assumptions = row.assumptions();
  result.reason = row.refusal();
  if (result.reason.empty()) {
    result.kernel = std::move(kernel);
  }
  return result;
}

} // namespace

bool is_kernel_kind(const EvidenceKind& kind) {
  return reader_of(kind) != nullptr || kind.name == "power";
}

std::optional<ResolverRules> load_kernel_rules(const EvidenceKind& kind, const Catalogue& catalogue,
                                               Diagnostics& out) {
  return load_resolver_rules(kind.name, catalogue, out);
}

std::vector<KernelRow> kernel_rows(const CsvTable& table, const EvidenceKind& kind,
                                   const ResolverRules& rules, const Catalogue& catalogue) {
  std::vector<KernelRow> rows;
  const Reader* reader = reader_of(kind);
  for (std::size_t row = 0; reader != nullptr && row < table.rows.size(); ++row) {
    rows.push_back(read_row({table, row, rules, catalogue}, *reader));
  }
  return reader != nullptr ? rows : capped_rows(table, rules, catalogue);
}

} // namespace clustersim
