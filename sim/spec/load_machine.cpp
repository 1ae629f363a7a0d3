// Links, chips, nodes and fabrics with everything they refer to.

#include "base/text.hpp"
#include "spec/check_shapes.hpp"
#include "spec/lay_lists.hpp"
#include "spec/objects.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>
#include <filesystem>

namespace clustersim {
namespace {

// NVIDIA's driver leaves 81,559 of 81,920 MiB on H100; inline ECC takes one byte in sixteen.
constexpr double driver_share = 0.9956, inline_ecc_share = 15.0 / 16.0;
constexpr double idle_share = 90.0 / 700.0; // H100 SXM board at boost clock
constexpr double l2_ratio = 9.7 / 3.35;     // H100's die: L2 read over HBM3

void finish_chip(ChipInput& input, const Reading& reading, Diagnostics& out) {
  Chip& chip = input.chip;
  if (!reading.has("memory.usable")) {
    const double ecc = chip.memory.ecc_inline ? inline_ecc_share : 1.0;
    const double driver = chip.kind == ChipKind::gpu ? driver_share : 1.0;
    chip.memory.usable = chip.memory.capacity * (driver * ecc);
  }
  if (chip.memory.usable > chip.memory.capacity) {
    out.add(diagnose(reading.place_of("memory.usable"), "more memory is usable than there is",
                     "at most memory.capacity"));
  }
  if (!reading.has("power.idle")) {
    chip.power.idle = chip.power.tdp * idle_share;
  }
  if (chip.power.idle > chip.power.tdp) {
    out.add(diagnose(reading.place_of("power.idle"), "idle power exceeds the board's limit",
                     "at most power.tdp"));
  }
  if (!reading.has("l2.bandwidth")) {
    chip.l2.bandwidth = chip.memory.bandwidth * l2_ratio;
  }
  const bool computes = std::any_of(all_precisions.begin(), all_precisions.end(), [&](Precision p) {
    return chip.matrix[p].has_value() || chip.vector[p].has_value();
  });
  if (computes == chip.unpublished) {
    out.add(chip.unpublished
                ? diagnose(reading.place_of("compute.unpublished"),
                           "the chip has rates, so they are published",
                           "either rates or unpublished = true")
                : diagnose(reading.place_of("compute.matrix.bf16"), "the chip has no rate at all",
                           "rates in [compute.matrix] and [compute.vector]"));
  }
}

void finish_calibration(KernelCalibration& k, const Reading& reading, Diagnostics& out) {
  for (double& share : k.memory.classes) {
    share = share > 0 ? share : k.memory.copy;
  }
  if (k.gemm.tiles.empty() && k.gemm.systolic == 0) {
    out.add(diagnose(reading.place_of("gemm.tiles"), "no tiles, and not systolic",
                     "gemm.tiles or gemm.systolic"));
  }
  const bool sustained = std::any_of(all_precisions.begin(), all_precisions.end(),
                                     [&](Precision p) { return k.gemm.sustained[p].has_value(); });
  if (!sustained) {
    out.add(diagnose(reading.place_of("gemm.sustained.bf16"), "no sustained share at all",
                     "at least one precision in [gemm.sustained]"));
  }
}

// Peaks are quoted at the clock, and L2 runs with it.
void follow_clock(Chip& chip, double ratio, bool and_l2) {
  for (const Precision p : all_precisions) {
    for (auto* table : {&chip.matrix, &chip.matrix_accumulate_16, &chip.vector}) {
      if ((*table)[p]) *(*table)[p] *= ratio;
    }
  }
  if (and_l2) chip.l2.bandwidth *= ratio;
}

// A calibration named by a path lies beside the scenario, not in the catalogue.
std::string path_beside(const Loading& loading, const Name& name) {
  return (std::filesystem::path(loading.folder) / std::filesystem::path(name.text)).string();
}

std::optional<Tree> open_calibration_file(Loading& loading, const Name& name) {
  const std::string path = path_beside(loading, name);
  const auto bytes = read_text_file(path, loading.out);
  return bytes ? parse_input(make_source_text(path, *bytes, Origin::catalogue), loading.out)
               : std::nullopt;
}

bool is_file_name(const std::string& text) {
  return text.size() > 5 && text.compare(text.size() - 5, 5, ".toml") == 0;
}

// What a node or fabric refers to, with one diagnostic where it must and does not.
class References {
public:
  References(Loading& loading, const Reading& reading) : loading_(loading), reading_(reading) {}

  void link(const std::string& key, const std::string& text, Link& to, bool needed,
            const std::string& why) {
    if (text.empty()) {
      if (needed) {
        loading_.out.add(diagnose(reading_.place_of(key), "'" + key + "' is missing", why));
        sound_ = false;
      }
      return;
    }
    const auto found = load(loading_, {text, reading_.place_of(key)}, Link{});
    sound_ = sound_ && found.has_value();
    if (found) {
      to = *found;
    }
  }
  [[nodiscard]] bool sound() const { return sound_; }

private:
  Loading& loading_;
  const Reading& reading_;
  bool sound_ = true;
};

// More links than the chip has ports of that kind cannot be plugged in.
bool ports_suffice(Loading& loading, const Node& node, const Reading& reading) {
  for (const ChipPort& port : node.chip.ports) {
    if (canonical_id(port.link) == node.scale_up.link.id &&
        node.scale_up.links_per_chip > port.count) {
      loading.out.add(diagnose(reading.place_of("scale_up.links_per_chip"),
                               "more links per chip than " + node.chip.id + " has ports",
                               "at most " + std::to_string(port.count)));
      return false;
    }
  }
  return true;
}

bool well_shaped(Loading& loading, const std::vector<ShapeProblem>& problems,
                 const Reading& reading) {
  for (const ShapeProblem& problem : problems) {
    loading.out.add(diagnose(reading.place_of(problem.key), problem.message, problem.expected));
  }
  return problems.empty();
}

bool resolve_node(Loading& loading, NodeInput& input, const Reading& reading) {
  Node& node = input.node;
  const auto chip = load(loading, {input.chip, reading.place_of("node.chip")}, Chip{});
  if (chip) {
    node.chip = *chip;
  }
  References refer(loading, reading);
  refer.link("scale_up.link", input.scale_up_link, node.scale_up.link,
             node.scale_up.shape != "none", "a link, since scale_up.shape is not \"none\"");
  refer.link("host.pcie", input.pcie, node.host.pcie, true, "a link");
  refer.link("host.memory", input.memory, node.host.memory, true, "a link");
  refer.link("host.socket_link", input.socket_link, node.host.socket_link, node.host.sockets > 1,
             "a link, since there are several sockets");
  refer.link("nic.link", input.nic_link, node.nics.link, node.nics.count > 0,
             "a link, since there are network cards");
  if (node.scale_up.shape != "none" && node.scale_up.links_per_chip == 0) {
    loading.out.add(diagnose(reading.place_of("scale_up.links_per_chip"),
                             "'scale_up.links_per_chip' is missing",
                             "a whole number above 0, since scale_up.shape is not \"none\""));
    return false;
  }
  return chip.has_value() && refer.sound() && ports_suffice(loading, node, reading) &&
         well_shaped(loading, shape_problems(node), reading);
}

} // namespace

std::optional<Link> load(Loading& loading, const Name& name, Link) {
  const auto found = open_named(loading, Kind::link, name);
  if (!found) {
    return std::nullopt;
  }
  return read_whole(loading, link_schema(), found->tree, found->id,
                    [](Link&, const Reading&, Diagnostics&) {});
}

void use_calibration(Loading& loading, const Name& name) {
  if (is_file_name(name.text)) {
    const std::string path = path_beside(loading, name);
    const auto root = parse_overlay(path, loading.out);
    if (!root) {
      return;
    }
    if (is_overlay(*root)) {
      // --calibration replaces the scenario's file.
      if (loading.catalogue.overlays().empty()) {
        loading.overlays = std::vector{read_overlay(path, *root, loading)};
      }
      return;
    }
  }
  loading.calibration = name;
}

std::optional<KernelCalibration> load_calibration(Loading& loading, const Name& name,
                                                  const Tree* replaced) {
  const bool file = is_file_name(name.text);
  const auto id = file ? std::optional(std::filesystem::path(name.text).stem().string())
                       : resolve_id(loading, Kind::calibration, name);
  auto root = !id    ? std::nullopt
              : file ? open_calibration_file(loading, name)
                     : open_object(loading, Kind::calibration, *id, name.place);
  if (!root) {
    return std::nullopt;
  }
  if (replaced != nullptr) {
    Tree keys = *replaced;
    lay_attention(*root, keys, loading.out);
    lay_libraries(*root, keys, loading.out);
    merge(*root, keys);
  }
  return read_whole(loading, calibration_schema(), *root, *id, finish_calibration);
}

std::optional<Hertz> replaced_clock(const Loading& loading, const std::string& id) {
  const auto over = loading.overrides.find({Kind::chip, id});
  const Tree* compute = over == loading.overrides.end() ? nullptr : over->second.find("compute");
  if (compute == nullptr || compute->find("boost_clock") == nullptr ||
      compute->find("matrix") != nullptr || compute->find("vector") != nullptr) {
    return std::nullopt;
  }
  Diagnostics unheard; // this chip loads with its overrides too, and is complained of there
  Loading own{loading.catalogue, unheard};
  own.definitions = loading.definitions;
  const auto chip = load(own, {id, {}}, Chip{});
  return chip ? chip->boost_clock : std::nullopt;
}

std::optional<Chip> load(Loading& loading, const Name& name, Chip) {
  auto found = open_named(loading, Kind::chip, name);
  if (!found) {
    return std::nullopt;
  }
  // Keys of a calibration beside `use` replace that calibration's.
  std::optional<Tree> replaced;
  Tree* calibration = found->tree.find("calibration");
  if (calibration != nullptr && calibration->type == TreeType::table) {
    replaced = *calibration;
    replaced->erase("use");
    std::erase_if(calibration->members, [](const TreeMember& m) { return m.key != "use"; });
  }
  Name kernels{"", {}};
  const auto input = read_whole(loading, chip_schema(), found->tree, found->id,
                                [&](ChipInput& chip, const Reading& reading, Diagnostics& out) {
                                  finish_chip(chip, reading, out);
                                  kernels = {chip.calibration, reading.place_of("calibration.use")};
                                });
  if (!input) {
    return std::nullopt;
  }
  Chip chip = input->chip;
  if (const auto stated = replaced_clock(loading, found->id); stated && chip.boost_clock) {
    const auto over = loading.overrides.find({Kind::chip, found->id});
    follow_clock(chip, *chip.boost_clock / *stated, over->second.find("l2") == nullptr);
  }
  const auto constants = load_calibration(loading, loading.calibration.value_or(kernels),
                                          replaced ? &*replaced : nullptr);
  if (!constants) {
    return std::nullopt;
  }
  chip.kernels = *constants;
  return chip;
}

std::optional<Node> load(Loading& loading, const Name& name, Node) {
  const auto found = open_named(loading, Kind::node, name);
  if (!found) {
    return std::nullopt;
  }
  Reading keys;
  auto input =
      read_whole(loading, node_schema(), found->tree, found->id,
                 [&](NodeInput&, const Reading& reading, Diagnostics&) { keys = reading; });
  if (!input || !resolve_node(loading, *input, keys)) {
    return std::nullopt;
  }
  return input->node;
}

std::optional<Fabric> load(Loading& loading, const Name& name, Fabric) {
  const auto found = open_named(loading, Kind::fabric, name);
  if (!found) {
    return std::nullopt;
  }
  Reading keys;
  auto input =
      read_whole(loading, fabric_schema(), found->tree, found->id,
                 [&](FabricInput&, const Reading& reading, Diagnostics&) { keys = reading; });
  if (!input) {
    return std::nullopt;
  }
  References refer(loading, keys);
  refer.link("fabric.link", input->link, input->fabric.link, input->fabric.shape != "none",
             "a link, since fabric.shape is not \"none\"");
  const bool good = refer.sound() && well_shaped(loading, shape_problems(input->fabric), keys);
  return good ? std::optional(input->fabric) : std::nullopt;
}

} // namespace clustersim
