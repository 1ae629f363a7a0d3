#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/kernel_axes.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "report/kernel.hpp"
#include "spec/overlay.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim::cli {
namespace {

using enum AxisForm;

std::int64_t count_at(const Point& point, std::string_view name, std::int64_t otherwise = 0) {
  const auto found = point.find(name);
  return found == point.end() ? otherwise : static_cast<std::int64_t>(found->second);
}

KernelShape gemm_shape(const Point& point, const Options& options) {
  GemmShape shape;
  shape.m = count_at(point, "m");
  shape.n = count_at(point, "n");
  shape.k = count_at(point, "k");
  shape.batch = count_at(point, "batch");
  shape.precision = precision_option(options).value_or(Precision::bf16);
  shape.output = usual_output(shape.precision);
  const std::string role =
      one_of("--role", options.kernel.role, {"forward", "data_gradient", "weight_gradient"});
  if (role == "weight_gradient") {
    shape.role = GemmRole::weight_gradient;
    shape.output = shape.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
    shape.accumulate = true;
  } else if (role == "data_gradient") {
    shape.role = GemmRole::data_gradient;
  }
  shape.accumulate_16 = one_of("--sums", options.kernel.sums, {"fp32", "fp16"}) == "fp16";
  shape.sparse = options.kernel.sparse;
  return shape;
}

KernelShape attention_shape(const Point& point, const Options& options) {
  AttentionShape shape;
  shape.batch = count_at(point, "batch");
  shape.queries = shape.keys = count_at(point, "sequence");
  shape.heads = count_at(point, "heads");
  shape.kv_heads = count_at(point, "kv-heads", shape.heads);
  if (shape.heads % shape.kv_heads != 0) {
    throw misuse(fmt::format("{} key and value heads do not divide {} query heads", shape.kv_heads,
                             shape.heads));
  }
  shape.head_dim = shape.value_dim = count_at(point, "head-dim");
  shape.window = count_at(point, "window");
  shape.causal = options.kernel.causal;
  shape.backward = options.kernel.backward;
  shape.precision = precision_option(options).value_or(Precision::bf16);
  return shape;
}

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernel_class_count; ++i) {
    names.emplace_back(name_of(static_cast<KernelClass>(i)));
  }
  return names;
}

KernelShape memory_shape(const Point& point, const Options& options) {
  MemoryKernel kernel;
  const std::string name = one_of("--class", options.kernel.kernel_class, class_names());
  kernel.kernel_class = kernel_class_from(name).value_or(KernelClass::elementwise);
  kernel.traffic = Bytes{point.at("bytes")};
  return kernel;
}

/// One kind of kernel: what it is called, its dimensions, and the options that only others have.
struct Family {
  std::string_view name;
  std::vector<Axis> axes;
  KernelShape (*shape)(const Point&, const Options&);
  std::vector<std::string_view> own; // options beside dimensions
};

const std::vector<Family>& families() {
  static const Axis cap{"power-cap", watts, &KernelOptions::power_cap, "", false};
  static const Axis batch{"batch", count, &KernelOptions::batch, "1", false};
  static const std::vector<Family> table{
      {"gemm",
       {{"m", count, &KernelOptions::m, "", true},
        {"n", count, &KernelOptions::n, "", true},
        {"k", count, &KernelOptions::k, "", true},
        batch,
        cap},
       gemm_shape,
       {"--role", "--sums", "--sparse", "--precision"}},
      {"attention",
       {{"sequence", tokens, &KernelOptions::sequence, "", true},
        {"heads", count, &KernelOptions::heads, "", true},
        {"kv-heads", count, &KernelOptions::kv_heads, "", false},
        {"head-dim", count, &KernelOptions::head_dim, "128", false},
        {"window", tokens, &KernelOptions::window, "", false},
        batch,
        cap},
       attention_shape,
       {"--causal", "--backward", "--library", "--precision"}},
      {"memory",
       {{"bytes", size, &KernelOptions::bytes, "", true}, cap},
       memory_shape,
       {"--class"}}};
  return table;
}

const Family& family_of(const Options& options) {
  std::vector<std::string> names;
  for (const Family& family : families()) {
    names.emplace_back(family.name);
  }
  if (options.arguments.empty()) {
    throw misuse(fmt::format("'kernel' needs one of {}", fmt::join(names, ", ")),
                 "try: clustersim kernel gemm --chip h100 --m 4096 --n 4096 --k 4096");
  }
  const std::string name = one_of("kernel", options.arguments.front(), names);
  return *std::find_if(families().begin(), families().end(),
                       [&](const Family& family) { return family.name == name; });
}

bool belongs(const Family& family, std::string_view option) {
  return std::find(family.own.begin(), family.own.end(), option) != family.own.end() ||
         std::any_of(family.axes.begin(), family.axes.end(),
                     [&](const Axis& axis) { return axis.name == option.substr(2); });
}

/// An option of another kind of kernel would be ignored without a word.
void refuse_strangers(const Options& options, const Family& family) {
  for (const std::string& name : options.given) {
    const bool elsewhere = std::any_of(families().begin(), families().end(),
                                       [&](const Family& other) { return belongs(other, name); });
    if (elsewhere && !belongs(family, name)) {
      throw misuse(fmt::format("option '{}' does not apply to 'kernel {}'", name, family.name),
                   "see clustersim help kernel");
    }
  }
}

KernelSetting setting_of(const Point& point, const Options& options) {
  KernelSetting setting;
  const std::string condition =
      one_of("--condition", options.kernel.condition, {"sustained", "burst", "loop"});
  setting.occasion.condition = condition == "burst"  ? Condition::burst
                               : condition == "loop" ? Condition::loop
                                                     : Condition::sustained;
  const std::string operands =
      one_of("--operands", options.kernel.operands, {"random", "easy", "still"});
  setting.occasion.data = operands == "easy"    ? OperandData::easy
                          : operands == "still" ? OperandData::still
                                                : OperandData::random;
  const bool graph = one_of("--launch", options.kernel.launch, {"stream", "graph"}) == "graph";
  setting.gap = graph ? LaunchGap::graph : LaunchGap::stream;
  if (const auto cap = point.find("power-cap"); cap != point.end()) {
    setting.cap = Watts{cap->second};
  }
  if (!options.kernel.library.empty()) {
    setting.attention_kernels = {canonical_id(options.kernel.library)};
  }
  return setting;
}

/// A chip that --set changes must be one of those asked about.
void refuse_idle_settings(const Overlay& overlay, const std::vector<Chip>& chips) {
  for (const auto& entry : overlay.places) {
    const ObjectKey& key = entry.first;
    const bool used = key.first != Kind::chip ||
                      std::any_of(chips.begin(), chips.end(),
                                  [&](const Chip& chip) { return chip.id == key.second; });
    if (!used) {
      throw misuse(fmt::format("--set changes {}, which this question is not about", key.second));
    }
  }
}

std::vector<std::string> names_of(const Options& options) {
  constexpr std::size_t most_chips = 16;
  std::vector<std::string> names = options.chips;
  names.insert(names.end(), options.arguments.begin() + 1, options.arguments.end());
  if (names.empty()) {
    throw misuse("'kernel' needs a chip", "such as --chip h100; clustersim list chips shows all");
  }
  if (names.size() > most_chips) {
    throw misuse(fmt::format("at most {} chips at once", most_chips));
  }
  return names;
}

/// Nothing when diagnostics were printed.
std::vector<Chip> chips_of(const Options& options, ExitCode& code) {
  const std::vector<std::string> names = names_of(options);
  Catalogue catalogue = open_catalogue(options, "./");
  Diagnostics diagnostics;
  if (!options.settings.empty()) {
    if (auto overlay = settings_overlay(options.settings, catalogue, diagnostics)) {
      catalogue.lay(std::move(*overlay));
    }
  }
  std::vector<Chip> chips;
  for (const std::string& name : names) {
    if (auto chip = load_chip(catalogue, name, diagnostics)) {
      chips.push_back(std::move(*chip));
    }
  }
  print(options, diagnostics);
  code = diagnostics.exit_code();
  if (code == ExitCode::done && !options.settings.empty()) {
    refuse_idle_settings(catalogue.overlays().back(), chips);
  }
  return chips;
}

/// A kernel that no chip knows is a slip; one that some chip lacks has its own message.
void refuse_unknown_library(const Options& options, const std::vector<Chip>& chips) {
  std::vector<std::string> known{std::string(unfused_attention)};
  for (const Chip& chip : chips) {
    for (std::string& name : attention_kernels_of(chip)) {
      known.push_back(std::move(name));
    }
  }
  if (!options.kernel.library.empty()) {
    (void)one_of("--library", options.kernel.library, known);
  }
}

std::vector<KernelAnswer> answers_to(const Options& options, const Family& family,
                                     const std::vector<Point>& points,
                                     const std::vector<Chip>& chips) {
  std::vector<KernelAnswer> answers;
  for (const Chip& chip : chips) {
    for (const Point& point : points) {
      auto answer = answer_kernel(family.shape(point, options), setting_of(point, options), chip);
      if (const std::string* refusal = std::get_if<std::string>(&answer)) {
        throw misuse(*refusal);
      }
      answers.push_back(std::get<KernelAnswer>(std::move(answer)));
    }
  }
  return answers;
}

} // namespace

ExitCode kernel_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  const Family& family = family_of(options);
  refuse_strangers(options, family);
  const std::vector<Point> points = points_of(options.kernel, family.axes);
  ExitCode code = ExitCode::done;
  const std::vector<Chip> chips = chips_of(options, code);
  if (code != ExitCode::done) {
    return code;
  }
  refuse_unknown_library(options, chips);
  const std::vector<KernelAnswer> answers = answers_to(options, family, points, chips);
  deliver(options, format == Format::json  ? render_kernel_json(answers, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_kernel_csv(answers)
                                           : render_kernel_text(answers, output_style(options)));
  return ExitCode::done;
}

} // namespace clustersim::cli
