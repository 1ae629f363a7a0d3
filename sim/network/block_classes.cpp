// Blocks of the graph (nodes, units, pods) sorted into classes that carry the same loads.

#include "network/traffic.hpp"

#include <algorithm>
#include <bit>

namespace clustersim {

namespace {

using Entry = Traffic::Entry;

struct BlockClass {
  std::uint32_t first = 0; // the lowest block
  std::size_t blocks = 0;
  std::vector<Entry> entries;
};

bool alike(const std::vector<Entry>& a, std::span<const Entry> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Entry& x, const Entry& y) {
    return x.part == y.part && x.times == y.times;
  });
}

std::uint64_t hash_of(std::span<const Entry> entries) {
  std::uint64_t hash = 1469598103934665603ULL; // FNV-1a, by words
  for (const Entry& entry : entries) {
    hash = (hash ^ entry.part) * 1099511628211ULL;
    hash = (hash ^ std::bit_cast<std::uint64_t>(entry.times)) * 1099511628211ULL;
  }
  return hash;
}

/// Entries by block, in order of emission within each.
std::vector<Entry> by_block(const std::vector<Entry>& entries, std::vector<std::size_t>& first) {
  std::uint32_t blocks = 0;
  for (const Entry& entry : entries)
    blocks = std::max(blocks, entry.block + 1);
  first.assign(std::size_t{blocks} + 1, 0);
  for (const Entry& entry : entries)
    ++first[entry.block + 1];
  for (std::size_t b = 0; b < blocks; ++b)
    first[b + 1] += first[b];
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  std::vector<Entry> sorted(entries.size());
  for (const Entry& entry : entries)
    sorted[next[entry.block]++] = entry;
  return sorted;
}

/// In order of parts, each once. Returns how many are left.
std::size_t merge(std::span<Entry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.part < b.part; });
  std::size_t kept = 0;
  for (const Entry& entry : entries) {
    if (kept > 0 && entries[kept - 1].part == entry.part) {
      entries[kept - 1].times += entry.times;
    } else {
      entries[kept++] = entry;
    }
  }
  return kept;
}

std::vector<BlockClass> classes_of(const std::vector<Entry>& entries, Traffic::Blocks wanted) {
  std::vector<std::size_t> first;
  std::vector<Entry> sorted = by_block(entries, first);
  std::vector<BlockClass> classes;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> known; // by hash
  for (std::size_t b = 0; b + 1 < first.size(); ++b) {
    const std::span<Entry> all(sorted.data() + first[b], first[b + 1] - first[b]);
    const std::span<const Entry> own = all.first(merge(all));
    if (own.empty()) continue;
    if (wanted == Traffic::Blocks::each) {
      classes.push_back({static_cast<std::uint32_t>(b), 1, {own.begin(), own.end()}});
      continue;
    }
    std::vector<std::size_t>& bucket = known[hash_of(own)];
    const auto found = std::find_if(bucket.begin(), bucket.end(),
                                    [&](std::size_t c) { return alike(classes[c].entries, own); });
    if (found != bucket.end()) {
      ++classes[*found].blocks;
      continue;
    }
    bucket.push_back(classes.size());
    classes.push_back({static_cast<std::uint32_t>(b), 1, {own.begin(), own.end()}});
  }
  return classes;
}

class Settler {
public:
  Settler(const std::vector<Traffic::Flow>& flows, Traffic::Blocks blocks)
      : flows_(flows), blocks_(blocks) {}

  void add_blocks(const std::vector<Entry>& entries, RoutePattern::Base source,
                  RoutePattern::Base target, const auto& first_edge) {
    for (const BlockClass& one : classes_of(entries, blocks_)) {
      for (const Entry& entry : one.entries) {
        const Traffic::Flow& flow = flows_[entry.part / 2];
        const RoutePattern::Base base = entry.part % 2 == 0 ? source : target;
        add(flow.parts[static_cast<std::size_t>(base)], first_edge(one.first), entry.times,
            one.blocks);
      }
    }
  }
  void add_rest() {
    for (const Traffic::Flow& flow : flows_) {
      add(flow.parts[static_cast<std::size_t>(RoutePattern::Base::fabric)], 0, flow.times, 1);
    }
  }
  LoadVector load() {
    LoadVector result;
    for (const auto& [driver, number] : drivers_)
      result.drivers.push_back(driver);
    for (const auto& [edge, sum] : rows_) {
      LoadVector::Row row{edge, {}, sum.alike};
      for (const Driver& driver : result.drivers) {
        const auto own = sum.bytes.find(driver);
        row.bytes.push_back(own == sum.bytes.end() ? 0.0 : own->second);
      }
      result.rows.push_back(std::move(row));
    }
    return result;
  }

private:
  void add(const std::vector<Traffic::Part>& parts, std::size_t first, double times,
           std::size_t blocks) {
    for (const Traffic::Part& part : parts) {
      Sum& sum = rows_[EdgeId{first + part.edge}];
      sum.alike = blocks;
      sum.bytes[part.driver] += part.bytes * times;
      drivers_[part.driver] = true;
    }
  }

  struct Sum {
    std::map<Driver, double> bytes;
    std::size_t alike = 1;
  };
  const std::vector<Traffic::Flow>& flows_;
  Traffic::Blocks blocks_;
  std::map<EdgeId, Sum> rows_;
  std::map<Driver, bool> drivers_;
};

} // namespace

bool LoadVector::moves(LinkClassId transport) const {
  return std::any_of(drivers.begin(), drivers.end(),
                     [&](const Driver& d) { return d.transport == transport; });
}

LoadVector Traffic::settled(Blocks blocks) const {
  using enum RoutePattern::Base;
  Settler settler(flows_, blocks);
  settler.add_blocks(nodes_, RoutePattern::Base::source, target,
                     [&](std::uint32_t node) { return graph_->nodes()[node].first_edge.at(); });
  settler.add_blocks(units_, source_unit, target_unit, [&](std::uint32_t group) {
    return graph_->site(NodeGroupId{group}).first_edge.at();
  });
  settler.add_blocks(pods_, source_pod, target_pod,
                     [&](std::uint32_t pod) { return std::size_t{pod_blocks_[pod]}; });
  settler.add_rest();
  return settler.load();
}

} // namespace clustersim
