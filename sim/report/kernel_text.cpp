#include "report/kernel.hpp"

#include "base/units.hpp"
#include "report/kernel_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace clustersim {
namespace {

std::string title_of(const KernelAnswer& answer, TextStyle style) {
  const std::string_view by = style.unicode ? "×" : "x";
  if (const auto* gemm = std::get_if<GemmShape>(&answer.shape)) {
    const std::string batch = gemm->batch > 1 ? fmt::format("{} {} ", gemm->batch, by) : "";
    return fmt::format("GEMM {0}{1} {2} {3} {2} {4}, {5}{6}{7}", batch, gemm->m, by, gemm->n,
                       gemm->k, name_of(gemm->precision), gemm->sparse ? ", 2:4 sparse" : "",
                       gemm->accumulate_16 ? ", sums in 16 bits" : "");
  }
  if (const auto* a = std::get_if<AttentionShape>(&answer.shape)) {
    return fmt::format("{} attention {}, batch {}, {} tokens, {}/{} heads of {}, {}, {}",
                       a->causal ? "causal" : "full", a->backward ? "backward" : "forward",
                       a->batch, grouped(a->queries), a->heads, a->kv_heads, a->head_dim,
                       name_of(a->precision), answer.attention_kernel);
  }
  const auto& memory = std::get<MemoryKernel>(answer.shape);
  return fmt::format("{} kernel moving {}", name_of(memory.kernel_class),
                     format_binary(memory.traffic));
}

std::string setting_of(const KernelAnswer& answer) {
  const Occasion& occasion = answer.setting.occasion;
  std::string text = occasion.condition == Condition::burst  ? "a few replays, cool"
                     : occasion.condition == Condition::loop ? "a loop of a second"
                                                             : "sustained load";
  if (occasion.data != OperandData::random) {
    text += fmt::format(", {} operands", name_of(occasion.data));
  }
  if (answer.setting.cap) {
    text += fmt::format(", capped at {}", format_quantity(*answer.setting.cap));
  }
  return text + (answer.setting.gap == LaunchGap::graph ? ", in a captured graph" : "");
}

std::string speed_of(const KernelAnswer& answer) {
  return answer.time.flops.si() > 0 ? format_quantity(rate_of(answer))
                                    : format_quantity(bandwidth_of(answer));
}

std::string energy_price(const KernelAnswer& answer) {
  const KernelTime& time = answer.time;
  return time.flops.si() > 0 ? format_quantity(time.energy / time.flops, 3)
                             : format_quantity(time.energy / time.traffic, 3);
}

/// "matrix 190 us, L2 101 us, …": each roof alone.
std::string parts_of(const KernelTime& time, TextStyle style) {
  std::string out;
  for (const auto& [name, part] : {std::pair{"matrix", time.matrix},
                                   {"vector", time.vector},
                                   {"L2", time.l2},
                                   {"memory", time.memory},
                                   {"launch", time.launch}}) {
    if (part.si() > 0) {
      out += fmt::format("{}{} {}", out.empty() ? "" : separator(style), name,
                         format_quantity(part, 3));
    }
  }
  return out;
}

std::string notes_text(const std::vector<KernelAnswer>& answers) {
  std::string out;
  std::set<std::string> seen;
  for (const KernelAnswer& answer : answers) {
    for (const std::string& note : answer.notes) {
      if (seen.insert(note).second) {
        out += hanging("  note: ", note);
      }
    }
  }
  return out;
}

std::string one_in_words(const KernelAnswer& answer, TextStyle style) {
  std::string out = paint(Ink::bold, title_of(answer, style), style) + "\n";
  out += fmt::format("  {}, {}\n\n", answer.chip_name, setting_of(answer));
  out +=
      fmt::format("  time      {}\n", paint(Ink::time, format_quantity(answer.time.total), style));
  out += fmt::format("  speed     {}, {} of the roofline\n", speed_of(answer),
                     percent(answer.fraction()));
  out +=
      hanging("  bound by  ", fmt::format("{}: {}", name_of(answer.time.binding), answer.reason));
  if (answer.tiling) {
    const Tiling& tiling = *answer.tiling;
    out += fmt::format("  tiling    {}x{} tiles{}{}{}tail {} idle{}split-K {}\n", tiling.tile.rows,
                       tiling.tile.columns, separator(style), counted(tiling.waves, "wave"),
                       separator(style), percent(tiling.tail), separator(style), tiling.split_k);
  }
  out += fmt::format("  power     {}, {} a call, {}\n", format_quantity(power_of(answer), 3),
                     format_quantity(answer.time.energy, 3), energy_price(answer));
  out += fmt::format("  each roof {}\n", parts_of(answer.time, style));
  return out + notes_text({answer});
}

/// Keys of the question whose values differ between answers.
std::vector<std::string_view> varying(const std::vector<KernelAnswer>& answers) {
  std::vector<std::string_view> keys;
  const std::vector<KernelField> first = asked(answers.front());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto differs = [&](const KernelAnswer& answer) {
      return text_of(asked(answer).at(i)) != text_of(first[i]);
    };
    if (std::any_of(answers.begin(), answers.end(), differs)) {
      keys.push_back(first[i].key);
    }
  }
  return keys;
}

std::vector<std::string> table_row(const KernelAnswer& answer,
                                   const std::vector<std::string_view>& keys) {
  std::vector<std::string> row;
  for (const KernelField& field : asked(answer)) {
    if (std::find(keys.begin(), keys.end(), field.key) != keys.end()) {
      const bool size = field.key == "bytes";
      row.push_back(size ? format_binary(Bytes{std::get<double>(field.value)}) : text_of(field));
    }
  }
  row.push_back(format_quantity(answer.time.total));
  row.push_back(speed_of(answer));
  row.push_back(percent(answer.fraction()));
  row.emplace_back(name_of(answer.time.binding));
  if (answer.tiling) {
    row.push_back(fmt::format("{}x{}", answer.tiling->tile.rows, answer.tiling->tile.columns));
    row.push_back(std::to_string(answer.tiling->split_k));
    row.push_back(std::to_string(answer.tiling->waves));
    row.push_back(percent(answer.tiling->tail));
  } else if (std::holds_alternative<GemmShape>(answer.shape)) {
    row.insert(row.end(), 4, "-");
  }
  return row;
}

std::string many_as_table(const std::vector<KernelAnswer>& answers, TextStyle style) {
  const std::vector<std::string_view> keys = varying(answers);
  std::vector<Column> columns;
  for (const std::string_view key : keys) {
    columns.push_back({std::string(key), Align::right});
  }
  for (const char* head : {"time", "speed", "of roofline"}) {
    columns.push_back({head, Align::right});
  }
  columns.push_back({"bound by"});
  if (std::holds_alternative<GemmShape>(answers.front().shape)) {
    columns.push_back({"tile"});
    for (const char* head : {"split-K", "waves", "tail idle"}) {
      columns.push_back({head, Align::right});
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const KernelAnswer& answer : answers) {
    rows.push_back(table_row(answer, keys));
  }
  std::string fixed;
  for (const KernelField& field : asked(answers.front())) {
    if (std::find(keys.begin(), keys.end(), field.key) == keys.end()) {
      fixed += fmt::format("{}{} {}", fixed.empty() ? "" : ", ", field.key, text_of(field));
    }
  }
  return paint(Ink::bold, kernel_name(answers.front().shape), style) + "\n" + hanging("  ", fixed) +
         "\n" + table(columns, rows, style) + notes_text(answers);
}

} // namespace

std::string render_kernel_text(const std::vector<KernelAnswer>& answers, TextStyle style) {
  if (answers.empty()) {
    return "";
  }
  return answers.size() == 1 ? one_in_words(answers.front(), style) : many_as_table(answers, style);
}

} // namespace clustersim
