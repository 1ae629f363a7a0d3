#include "study/named_system.hpp"

#include "base/text.hpp"
#include "study/machine.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace clustersim {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Letters and digits alone: "RTX 6000 Ada" and "rtx_6000_ada" are "rtx6000ada".
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : canonical_id(text)) {
    if (is_digit(c) || (c >= 'a' && c <= 'z')) out += c;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : canonical_id(name)) {
    if (c == '-' || c == '(' || c == ')' || c == '+' || c == ',') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// "h100x8" is h100, eight of them.
struct Counted {
  std::string stem;
  int count = 0; // 0: not stated
};

Counted counted_word(const std::string& word) {
  const std::size_t x = word.rfind('x');
  if (x == std::string::npos || x == 0 || x + 1 == word.size()) return {word, 0};
  int count = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + x + 1, end, count);
  const bool good = error == std::errc{} && stop == end && count > 0 && count <= 1024;
  return good ? Counted{word.substr(0, x), count} : Counted{word, 0};
}

enum class Match { none, prefix, exact };

/// "h20" begins "h20-96gb" but not "h200-sxm-141gb"; "h" alone begins too many.
Match match(const std::string& wanted, std::string_view name) {
  const std::string known = squeezed(name);
  const bool tells = std::any_of(wanted.begin(), wanted.end(), is_digit);
  if (wanted.size() < 2 || !tells || known.rfind(wanted, 0) != 0) return Match::none;
  if (known.size() == wanted.size()) return Match::exact;
  return is_digit(wanted.back()) && is_digit(known[wanted.size()]) ? Match::none : Match::prefix;
}

Match match(const std::string& wanted, const Chip& chip) {
  Match best = std::max(match(wanted, chip.id), match(wanted, chip.name));
  for (const std::string& alias : chip.aliases)
    best = std::max(best, match(wanted, alias));
  return best;
}

struct Candidate {
  const Chip* chip;
  Match match;
};

std::vector<Candidate> chips_named(const std::string& wanted, const Shelf& shelf) {
  std::vector<Candidate> found;
  for (const Chip& chip : shelf.chips) {
    const Match how = match(wanted, chip);
    if (how != Match::none) found.push_back({&chip, how});
  }
  return found;
}

/// What the name says.
struct Reading {
  std::vector<Candidate> chips;
  int count = 0, nic_count = 0;
  std::string node, join, nic, fabric;
  std::optional<bool> peer;
  bool rack = false;
  std::vector<std::string> says;
};

/// The longest run of leading words that begins a chip's name; how many words it took.
std::size_t read_chip(const std::vector<std::string>& words, const Shelf& shelf, Reading& out) {
  std::string joined;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 4); ++i) {
    const Counted counted = counted_word(words[i]);
    for (const auto& [stem, count] : {Counted{words[i], 0}, counted}) {
      std::vector<Candidate> found = chips_named(joined + stem, shelf);
      if (found.empty() || taken == i + 1) continue;
      out.chips = std::move(found);
      out.count = count;
      taken = i + 1;
    }
    joined += words[i];
  }
  return taken;
}

class WordReader {
public:
  WordReader(const CsvTable& table, std::size_t row, const ResolverRules& rules)
      : rules_(&rules), one_{table.path, table.header, {table.rows[row]}} {
    one_.header.emplace_back("word");
    one_.rows.front().fields.emplace_back();
  }
  void read(const std::string& word, Reading& out) {
    const Counted counted = counted_word(word);
    take(word, out);
    if (counted.count > 0) {
      take(counted.stem, out);
      if (!out.nic.empty()) out.nic_count = counted.count;
    }
    if (word.ends_with("nic") || word.ends_with("nics")) {
      int count = 0;
      const auto result = std::from_chars(word.data(), word.data() + word.size(), count);
      if (result.ec == std::errc{} && count > 0 && count <= 1024) out.nic_count = count;
    }
  }

private:
  void take(const std::string& word, Reading& out) {
    one_.rows.front().fields.back() = word;
    const auto set = [&](std::string_view key, std::string& value) {
      const auto decision = decide(*rules_, key, one_, 0);
      if (!decision) return;
      value = decision->value;
      if (!decision->says.empty()) out.says.push_back(decision->says);
    };
    std::string peer, rack;
    set("node", out.node);
    set("join", out.join);
    set("nic", out.nic);
    set("fabric", out.fabric);
    set("peer", peer);
    set("rack", rack);
    if (!peer.empty()) out.peer = peer == "true";
    out.rack = out.rack || rack == "true";
  }

  const ResolverRules* rules_;
  CsvTable one_;
};

const ChipPort* port_of(const Chip& chip, const std::string& link) {
  const auto found = std::find_if(chip.ports.begin(), chip.ports.end(),
                                  [&](const ChipPort& p) { return canonical_id(p.link) == link; });
  return found == chip.ports.end() ? nullptr : &*found;
}

bool has_scale_up(const Chip& chip) {
  return std::any_of(chip.ports.begin(), chip.ports.end(),
                     [](const ChipPort& p) { return canonical_id(p.link).rfind("pcie", 0) != 0; });
}

/// Whether the node's scale-up links can be plugged into this chip.
bool plugs_in(const Node& node, const Chip& chip) {
  if (node.scale_up.shape == "none") return true;
  const ChipPort* port = port_of(chip, node.scale_up.link.id);
  return port != nullptr && port->count >= node.scale_up.links_per_chip;
}

/// Whether the node may stand for one with this chip: of the same maker, with links that the chip
/// has, and not by PCIe alone where the chip has better and the name does not say so.
bool stands_in(const Node& node, const Chip& chip, const Reading& said) {
  const bool waste = node.scale_up.shape == "none" && has_scale_up(chip) && said.join.empty();
  return node.chip.vendor == chip.vendor && plugs_in(node, chip) && !waste;
}

/// How well a node with this chip agrees with the name; nothing when it contradicts it. Its own
/// chip outweighs every other word, the size of the node only breaks ties.
std::optional<double> agreement(const Node& node, const Candidate& candidate, const Reading& said,
                                int per_node) {
  const bool named = node.id == said.node;
  const bool own = node.chip.id == candidate.chip->id;
  if (!said.node.empty() && !named) return std::nullopt;
  if (!own && !stands_in(node, *candidate.chip, said)) return std::nullopt;
  if (!named && !said.join.empty() && node.scale_up.shape != said.join) return std::nullopt;
  if (node.chips < per_node) return std::nullopt;
  double score = own ? 16.0 : 0.0;
  score += candidate.match == Match::exact ? 2.0 : 0.0;
  score += node.chip.architecture == candidate.chip->architecture ? 1.0 : 0.0;
  score += said.peer && node.host.peer_to_peer == *said.peer ? 4.0 : 0.0;
  score += !said.nic.empty() && node.nics.link.id == said.nic ? 3.0 : 0.0;
  // Instances of a cloud have networks of their own: they are meant only where they are named.
  score += said.nic.empty() && node.nics.link.family == "infiniband" ? 1.5 : 0.0;
  const bool joined = node.scale_up.shape != "none";
  score += said.join.empty() && joined == has_scale_up(*candidate.chip) ? 4.0 : 0.0;
  const int count = said.count > 0 ? said.count : per_node;
  score += node.chips == count ? 2.0 : 0.0;
  return score - 0.001 * std::abs(node.chips - count);
}

struct Choice {
  const Node* node = nullptr;
  const Chip* chip = nullptr;
  double score = -1e9;
};

Choice choose(const Reading& said, const Shelf& shelf, int per_node) {
  Choice best;
  for (const Node& node : shelf.nodes) {
    for (const Candidate& candidate : said.chips) {
      const auto score = agreement(node, candidate, said, per_node);
      if (score && *score > best.score) best = {&node, candidate.chip, *score};
    }
  }
  return best;
}

const Link* link_named(const Shelf& shelf, const std::string& id) {
  const auto found = std::find_if(shelf.links.begin(), shelf.links.end(),
                                  [&](const Link& link) { return link.id == id; });
  return found == shelf.links.end() ? nullptr : &*found;
}

/// The chosen node with what the name says otherwise laid on it.
Node adapted(const Choice& choice, const Reading& said, const Shelf& shelf,
             std::vector<std::string>& assumptions) {
  Node node = *choice.node;
  const auto assume = [&](std::string sentence) { assumptions.push_back(std::move(sentence)); };
  assume(fmt::format("node {}", node.id));
  if (node.chip.id != choice.chip->id) {
    assume(fmt::format("no node of {} is joined so: {} stands for it with its links",
                       choice.chip->id, node.id));
    node.chip = *choice.chip;
    for (const ChipPort& port : node.chip.ports) {
      const Link* link = link_named(shelf, canonical_id(port.link));
      if (link != nullptr && link->family == "pcie") node.host.pcie = *link;
    }
  }
  if (said.peer && node.host.peer_to_peer != *said.peer) {
    assume(*said.peer ? "peer access switched on" : "peer access switched off");
    node.host.peer_to_peer = *said.peer;
  }
  const Link* nic = link_named(shelf, said.nic);
  if (nic != nullptr && node.nics.link.id != nic->id) {
    node.nics.link = *nic;
    node.nics.count = std::max(node.nics.count, 1);
    assume(fmt::format("{} of {} in each node", node.nics.count, nic->id));
  }
  if (said.nic_count > 0) node.nics.count = said.nic_count;
  return node;
}

std::optional<Fabric> fabric_for(const Reading& said, const Node& node, const Shelf& shelf) {
  for (const Fabric& fabric : shelf.fabrics) {
    if (fabric.id == said.fabric) return fabric;
  }
  return node.nics.count > 0 ? std::optional(fabric_of_link(shelf.fabrics, node.nics.link))
                             : std::nullopt;
}

std::optional<int> count_at(const CsvTable& table, std::size_t row, std::string_view column) {
  const auto value = number_from(table.at(row, column));
  if (!value || *value < 1 || *value > static_cast<double>(most_chips)) return std::nullopt;
  return static_cast<int>(*value);
}

} // namespace

Shelf load_shelf(const Catalogue& catalogue) {
  Shelf shelf;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    Diagnostics ignored; // a broken file complains when it is asked for by name
    const auto keep = [&](auto load, auto& to) {
      if (auto object = load(catalogue, entry.id, ignored, nullptr)) to.push_back(*object);
    };
    if (entry.kind == Kind::chip) keep(load_chip, shelf.chips);
    if (entry.kind == Kind::node) keep(load_node, shelf.nodes);
    if (entry.kind == Kind::fabric) keep(load_fabric, shelf.fabrics);
    if (entry.kind == Kind::link) keep(load_link, shelf.links);
  }
  return shelf;
}

std::optional<NamedSystem> named_system(const CsvTable& table, std::size_t row,
                                        const ResolverRules& rules, const Shelf& shelf,
                                        std::string& why) {
  const std::string_view name = table.at(row, "system");
  const auto ranks = count_at(table, row, "ranks");
  const int nodes = count_at(table, row, "nodes").value_or(1);
  if (!ranks || *ranks < nodes) {
    why = "ranks and nodes are no counts that fit together";
    return std::nullopt;
  }
  const std::vector<std::string> words = words_of(name);
  Reading said;
  WordReader reader(table, row, rules);
  const std::size_t taken = read_chip(words, shelf, said);
  if (taken == 0) {
    why = fmt::format("no chip of the catalogue begins the name '{}'", printable(name));
    return std::nullopt;
  }
  for (std::size_t i = taken; i < words.size(); ++i)
    reader.read(words[i], said);
  const int per_node = said.rack ? 1 : (*ranks + nodes - 1) / nodes;
  const Choice choice = choose(said, shelf, per_node);
  if (choice.node == nullptr) {
    why = fmt::format("no node of the catalogue is like '{}'", printable(name));
    return std::nullopt;
  }
  NamedSystem system;
  const Node node = adapted(choice, said, shelf, system.assumptions);
  system.assumptions.insert(system.assumptions.end(), said.says.begin(), said.says.end());
  const int held = node.chips;
  const int racks = (*ranks + held - 1) / held;
  Partition partition{node, said.rack ? racks : nodes, {}};
  if (partition.nodes > 1) {
    const auto fabric = fabric_for(said, node, shelf);
    if (!fabric) {
      why = fmt::format("{} has no network cards", node.id);
      return std::nullopt;
    }
    partition.fabric = *fabric;
    system.assumptions.push_back(fmt::format("fabric {}", fabric->id));
  }
  system.cluster.partitions.push_back(std::move(partition));
  return system;
}

} // namespace clustersim
