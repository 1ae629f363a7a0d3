#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/listing.hpp"
#include "spec/load.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

template <class Q>
ListedFact fact(std::string key, std::string head, const std::optional<Q>& value) {
  if (!value) {
    return {std::move(key), std::move(head), "", std::nullopt};
  }
  return {std::move(key), std::move(head), format_quantity(*value), value->si()};
}

ListedFact count(std::string key, std::string head, std::int64_t value) {
  return {std::move(key), std::move(head), grouped(value), static_cast<double>(value)};
}

ListedFact word(std::string key, std::string head, std::string value) {
  return {std::move(key), std::move(head), std::move(value), std::nullopt};
}

std::vector<ListedFact> facts_of(const Chip& chip) {
  return {
      {"memory_bytes", "memory", format_binary(chip.memory.capacity), chip.memory.capacity.si()},
      fact("bandwidth_bytes_per_s", "bandwidth", std::optional{chip.memory.bandwidth}),
      fact("bf16_flops_per_s", "bf16", chip.matrix[Precision::bf16]),
      fact("fp16_flops_per_s", "fp16", chip.matrix[Precision::fp16]),
      fact("tdp_w", "TDP", std::optional{chip.power.tdp})};
}

std::vector<ListedFact> facts_of(const Transformer& model) {
  return {count("parameters", "parameters", count_parameters(model).total),
          count("layers", "layers", model.layers), count("hidden", "hidden", model.hidden),
          count("heads", "heads", model.heads)};
}

std::vector<ListedFact> facts_of(const Node& node) {
  return {count("chips", "chips", node.chips), word("chip", "chip", node.chip.id),
          word("scale_up", "scale-up", node.scale_up.shape),
          count("nics", "NICs", node.nics.count)};
}

std::vector<ListedFact> facts_of(const Fabric& fabric) {
  return {word("shape", "shape", fabric.shape), word("link", "link", fabric.link.id)};
}

std::vector<ListedFact> facts_of(const Link& link) {
  return {word("family", "family", link.family),
          fact("bandwidth_bytes_per_s", "per direction", std::optional{link.bandwidth}),
          fact("latency_s", "latency", std::optional{link.latency})};
}

std::vector<ListedFact> facts_of(const Stack& stack) {
  return {word("attention", "attention", stack.attention_kernel),
          word("recipe", "recipe", stack.recipe.id)};
}

std::vector<ListedFact> facts_of(const Optimizer& optimizer) {
  return {fact("state_bytes_per_parameter", "state per parameter",
               std::optional{state_bytes(optimizer, ParameterGroup::matrices)})};
}

using Facts = std::optional<std::vector<ListedFact>>;

template <class T>
Facts facts_if(const std::optional<T>& object) {
  return object ? Facts{facts_of(*object)} : std::nullopt;
}

/// Nothing when the entry does not load; `out` says why.
Facts facts_of(const Catalogue& catalogue, const CatalogueEntry& entry, Diagnostics& out) {
  switch (entry.kind) {
  case Kind::chip:
    return facts_if(load_chip(catalogue, entry.id, out));
  case Kind::transformer:
    return facts_if(load_transformer(catalogue, entry.id, out));
  case Kind::node:
    return facts_if(load_node(catalogue, entry.id, out));
  case Kind::fabric:
    return facts_if(load_fabric(catalogue, entry.id, out));
  case Kind::link:
    return facts_if(load_link(catalogue, entry.id, out));
  case Kind::stack:
    return facts_if(load_stack(catalogue, entry.id, out));
  case Kind::optimizer:
    return facts_if(load_optimizer(catalogue, entry.id, out));
  case Kind::recipe:
  case Kind::calibration:
    return std::vector<ListedFact>{};
  }
  return std::nullopt;
}

Listing list_of(const Catalogue& catalogue, Kind kind, Diagnostics& out) {
  Listing listing{plural(kind), {}};
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != kind) {
      continue;
    }
    if (auto facts = facts_of(catalogue, entry, out)) {
      listing.entries.push_back(
          {entry.id, entry.name, entry.aliases, entry.path, std::move(*facts)});
    }
  }
  return listing;
}

Listing list_of_configs(const Options& options, const Catalogue& catalogue, Diagnostics& out) {
  Listing listing{"configs", {}};
  for (const ConfigEntry& config : configs(roots_of(options))) {
    const auto scenario = load_scenario(config.path, catalogue, {}, out);
    listing.entries.push_back(
        {config.id, scenario ? scenario->title : "(does not load)", {}, config.path, {}});
  }
  return listing;
}

Listing list_of_kinds(const Options& options, const Catalogue& catalogue) {
  Listing listing{"kinds", {}};
  for (const Kind kind : all_kinds) {
    std::int64_t entries = 0;
    for (const CatalogueEntry& entry : catalogue.entries()) {
      entries += entry.kind == kind ? 1 : 0;
    }
    listing.entries.push_back({plural(kind),
                               std::string{directory_of(kind)},
                               {},
                               "",
                               {count("entries", "entries", entries)}});
  }
  const auto scenarios = static_cast<std::int64_t>(configs(roots_of(options)).size());
  listing.entries.push_back(
      {"configs", "configs", {}, "", {count("entries", "entries", scenarios)}});
  return listing;
}

} // namespace

ExitCode list_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  const Catalogue catalogue = open_catalogue(options, "./");
  Diagnostics diagnostics;
  Listing listing;
  if (options.arguments.empty()) {
    listing = list_of_kinds(options, catalogue);
  } else if (options.arguments.front() == "configs") {
    listing = list_of_configs(options, catalogue, diagnostics);
  } else {
    listing = list_of(catalogue, kind_from(options.arguments.front(), {"configs"}), diagnostics);
  }
  print(options, diagnostics);
  deliver(options, format == Format::json  ? render_list_json(listing, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_list_csv(listing)
                                           : render_list_text(listing, output_style(options)));
  return diagnostics.exit_code();
}

} // namespace clustersim::cli
