#include "network/link_rings.hpp"

#include <algorithm>

namespace clustersim {

namespace {

// Enough for every cycle of DGX-1's graph and all their combinations; milliseconds.
constexpr int most_steps = 200'000;
constexpr std::size_t most_cycles = 512;

/// All Hamiltonian cycles (or paths) by depth-first search, in lexical order.
class Walker {
public:
  Walker(const LinkMatrix& links, bool closed)
      : links_(links), closed_(closed), used_(links.size(), false) {}

  std::vector<Cycle> from(std::size_t start, std::size_t most) {
    most_ = most;
    std::fill(used_.begin(), used_.end(), false);
    trail_ = {start};
    used_[start] = true;
    extend();
    return found_;
  }

private:
  void extend() {
    if (--steps_ < 0 || found_.size() >= most_) return;
    const std::size_t last = trail_.back();
    if (trail_.size() == links_.size()) {
      // Each cycle stands twice, once for each direction: keep the one that turns to the lower end.
      const bool keep = !closed_ || (links_[last][trail_.front()] > 0 && trail_[1] < last);
      if (keep) found_.push_back(trail_);
      return;
    }
    for (std::size_t next = 0; next < links_.size(); ++next) {
      if (used_[next] || links_[last][next] == 0) continue;
      used_[next] = true;
      trail_.push_back(next);
      extend();
      trail_.pop_back();
      used_[next] = false;
    }
  }

  const LinkMatrix& links_;
  bool closed_;
  std::vector<bool> used_;
  Cycle trail_;
  std::vector<Cycle> found_;
  std::size_t most_ = most_cycles;
  int steps_ = most_steps;
};

/// Picks cycles in order, each as often as its links allow, and keeps the largest set.
class Packer {
public:
  Packer(LinkMatrix links, std::vector<Cycle> cycles)
      : links_(std::move(links)), cycles_(std::move(cycles)) {
    bound_ = links_.size() * most_cycles;
    for (const std::vector<int>& row : links_) {
      std::size_t degree = 0;
      for (const int count : row)
        degree += static_cast<std::size_t>(count);
      bound_ = std::min(bound_, degree / 2); // a cycle takes two links of every member
    }
  }
  std::vector<Cycle> best() {
    pick(0);
    return best_;
  }

private:
  bool take(const Cycle& cycle, int count) {
    bool fits = true;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::size_t a = cycle[i], b = cycle[(i + 1) % cycle.size()];
      links_[a][b] -= count;
      links_[b][a] -= count;
      fits = fits && links_[a][b] >= 0;
    }
    return fits;
  }
  void pick(std::size_t from) {
    if (chosen_.size() > best_.size()) best_ = chosen_;
    for (std::size_t c = from; c < cycles_.size(); ++c) {
      if (best_.size() >= bound_ || --steps_ < 0) return;
      if (take(cycles_[c], 1)) {
        chosen_.push_back(cycles_[c]);
        pick(c);
        chosen_.pop_back();
      }
      take(cycles_[c], -1);
    }
  }

  LinkMatrix links_;
  std::vector<Cycle> cycles_, chosen_, best_;
  std::size_t bound_ = 0;
  int steps_ = most_steps;
};

bool within_reach(const LinkMatrix& links) {
  return links.size() >= 3 && links.size() <= most_ring_members;
}

} // namespace

std::vector<Cycle> pack_cycles(const LinkMatrix& links) {
  if (!within_reach(links)) return {};
  return Packer(links, Walker(links, true).from(0, most_cycles)).best();
}

Cycle find_path(const LinkMatrix& links) {
  if (!within_reach(links)) return {};
  for (std::size_t start = 0; start < links.size(); ++start) {
    const std::vector<Cycle> found = Walker(links, false).from(start, 1);
    if (!found.empty()) return found.front();
  }
  return {};
}

} // namespace clustersim
