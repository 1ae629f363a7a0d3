#include "study/training_run_resolver.hpp"

#include "base/text.hpp"
#include "spec/load.hpp"
#include "spec/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace clustersim {
namespace {

// Counts beyond this are no training run, and would overflow products of three of them.
constexpr double largest_count = 1e9;

constexpr std::array<std::string_view, 16> count_columns{
    "layers",      "hidden",           "heads", "kv_heads", "ffn_hidden", "vocab", "seq_len",
    "num_chips",   "chips_per_node",   "tp",    "pp",       "cp",         "ep",    "dp",
    "micro_batch", "global_batch_seqs"};

MemoryLevel memory_level(std::string_view name) {
  return name == "driver"     ? MemoryLevel::driver
         : name == "reserved" ? MemoryLevel::reserved
                              : MemoryLevel::allocator;
}

std::optional<std::int64_t> count_at(const CsvTable& table, std::size_t row,
                                     std::string_view column) {
  const std::optional<double> value = number_from(table.at(row, column));
  if (!value || *value < 1 || *value > largest_count || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::string bad_count(const CsvTable& table, std::size_t row) {
  for (const std::string_view column : count_columns) {
    const std::string_view text = table.at(row, column);
    if (!text.empty() && !count_at(table, row, column)) {
      return fmt::format("{} is '{}', which is no whole number from 1 to {:.0f}", column,
                         printable(text.substr(0, 40)), largest_count);
    }
  }
  return {};
}

/// A TOML value: counts and truth values bare, the rest quoted.
std::string toml_value(const std::string& text) {
  if (text == "true" || text == "false") {
    return text;
  }
  const std::optional<double> number = number_from(text);
  if (!number) {
    return toml_string(printable(text));
  }
  return *number == std::floor(*number) && std::abs(*number) <= largest_count
             ? fmt::format("{:.0f}", *number)
             : shortest(*number);
}

class Composer {
public:
  Composer(const CsvTable& table, std::size_t row, const ResolverRules& rules,
           const Catalogue& catalogue)
      : table_(&table), row_(row), rules_(&rules), catalogue_(&catalogue) {}

  ComposedRun compose() {
    if (const std::string reason = bad_count(*table_, row_); !reason.empty()) {
      return skipped(reason);
    }
    if (const auto skip = decide(*rules_, "skip", *table_, row_)) {
      return skipped(skip->says);
    }
    const std::string chip = take("cluster.chip").value_or("");
    const std::vector<const CatalogueEntry*> chips = catalogue_->find(Kind::chip, chip);
    if (chips.empty()) {
      return skipped(fmt::format("chip '{}' is not in the catalogue", printable(chip)));
    }
    run_.text =
        fmt::format("schema = 1\ntitle = {}\n", toml_string(printable(table_->at(row_, "id"))));
    if (std::string reason = cluster(chips.front()->id); !reason.empty()) {
      return skipped(std::move(reason));
    }
    scenario_keys();
    for (const Decision& assumption : decide_all(*rules_, "assume", *table_, row_)) {
      assume(assumption);
    }
    return std::move(run_);
  }

private:
  ComposedRun skipped(std::string reason) {
    ComposedRun run;
    run.status = RowStatus::skipped;
    run.reason = std::move(reason);
    run.stack = run_.stack;
    return run;
  }

  void assume(const Decision& decision) {
    if (!decision.says.empty()) {
      run_.assumptions.push_back(decision.says);
    }
  }

  std::optional<std::string> take(std::string_view key) {
    const std::optional<Decision> decision = decide(*rules_, key, *table_, row_);
    if (!decision) {
      return std::nullopt;
    }
    assume(*decision);
    return decision->value;
  }

  void set(const std::string& key, const std::string& value) {
    run_.text += fmt::format("{} = {}\n", key, toml_value(value));
  }

  /// Node, how many of them, fabric; a reason when the row cannot be placed.
  std::string cluster(const std::string& chip) {
    const std::optional<std::string> name = take("cluster.node");
    if (!name) {
      return fmt::format("no rule gives a node for {} with scale-up link '{}'", chip,
                         printable(table_->at(row_, "scaleup_link")));
    }
    Diagnostics complaints;
    const std::optional<Node> node = load_node(*catalogue_, *name, complaints);
    const std::optional<std::int64_t> chips = count_at(*table_, row_, "num_chips");
    if (!node || !chips) {
      return node ? "the row does not say how many chips" : fmt::format("no node '{}'", *name);
    }
    const std::int64_t held = chips_per_node(*node, *chips);
    emit_cluster(*node, chip, held, *chips / held);
    return {};
  }

  /// A slice of a torus is cut to the job; another node is as sold, and at most that is used of it.
  std::int64_t chips_per_node(const Node& node, std::int64_t chips) {
    std::int64_t held = node.chips;
    if (node.scale_up.shape == "torus") {
      held = whole("layout.largest_slice").value_or(chips);
      if (const auto slices = whole("layout.slices")) {
        held = std::min(held, (chips - 1) / *slices + 1);
      }
    } else if (const auto stated = whole("layout.chips_per_node")) {
      held = std::min(held, *stated);
    }
    held = std::min(held, chips);
    while (chips % held != 0) {
      --held;
    }
    return held;
  }

  std::optional<std::int64_t> whole(std::string_view key) {
    const auto text = take(key);
    const auto number = text ? number_from(*text) : std::nullopt;
    if (!number || !(*number >= 1 && *number <= largest_count)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
  }

  void emit_cluster(const Node& node, const std::string& chip, std::int64_t held,
                    std::int64_t nodes) {
    set("cluster.node", node.id);
    set("cluster.nodes", std::to_string(nodes));
    const std::string of_node = fmt::format("override.node.{}.", toml_string(printable(node.id)));
    set(of_node + "node.chip", chip);
    set(of_node + "node.chips", std::to_string(held));
    if (node.scale_up.shape == "torus" && node.nics.count > 0) { // cards go with the hosts
      set(of_node + "nic.count",
          std::to_string(std::max<std::int64_t>(node.nics.count * held / node.chips, 1)));
    }
    overrides("node:", of_node);
    overrides("chip:", fmt::format("override.chip.{}.", toml_string(printable(chip))));
    if (nodes > 1) {
      if (const auto fabric = take("cluster.fabric")) {
        set("cluster.fabric", *fabric);
        overrides("fabric:", fmt::format("override.fabric.{}.", toml_string(printable(*fabric))));
      }
    }
    const auto degree = [&](std::string_view column) {
      return count_at(*table_, row_, column).value_or(1);
    };
    const std::int64_t model_parallel = degree("tp") * degree("pp") * degree("cp");
    if (nodes > 1 && take("layout.shard_within") == "slice") {
      set("plan.hybrid_shard", std::to_string(std::max<std::int64_t>(held / model_parallel, 1)));
    }
    set("plan.data", std::to_string(std::max<std::int64_t>(held * nodes / model_parallel, 1)));
  }

  void overrides(std::string_view prefix, const std::string& target) {
    for (const std::string& key : keys_of(*rules_)) {
      if (key.starts_with(prefix)) {
        if (const auto value = take(key)) {
          set(target + key.substr(prefix.size()), *value);
        }
      }
    }
  }

  void scenario_keys() {
    for (const std::string& key : keys_of(*rules_)) {
      const std::string section = key.substr(0, key.find('.'));
      if (section == "model" || section == "training" || section == "plan") {
        if (const auto value = take(key); value && !value->empty()) {
          set(key, *value);
          if (key == "training.stack") {
            run_.stack = *value;
            overrides("stack:", fmt::format("override.stack.{}.", toml_string(printable(*value))));
          }
        }
      } else if (key == "memory.level") {
        run_.memory_level = memory_level(take(key).value_or(""));
      }
    }
  }

  const CsvTable* table_;
  std::size_t row_;
  const ResolverRules* rules_;
  const Catalogue* catalogue_;
  ComposedRun run_;
};

std::string first_complaint(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    if (diagnostic.severity == Severity::error) {
      return diagnostic.message;
    }
  }
  return "the input layer refused the row without saying why";
}

} // namespace

ComposedRun compose_training_run(const CsvTable& table, std::size_t row, const ResolverRules& rules,
                                 const Catalogue& catalogue) {
  return Composer(table, row, rules, catalogue).compose();
}

ResolvedRun resolve_training_run(const CsvTable& table, std::size_t row, const ResolverRules& rules,
                                 const Catalogue& catalogue) {
  ResolvedRun run{compose_training_run(table, row, rules, catalogue), std::nullopt};
  if (run.composed.status != RowStatus::ok) {
    return run;
  }
  Diagnostics complaints;
  run.scenario = parse_scenario(run.composed.text, std::string(table.at(row, "id")), catalogue, {},
                                complaints);
  if (!run.scenario) {
    run.composed.status = RowStatus::failed;
    run.composed.reason = first_complaint(complaints);
  }
  return run;
}

} // namespace clustersim
