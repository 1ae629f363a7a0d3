#include "report/rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace clustersim {
namespace {

constexpr double bend_width = 8.0;

/// An item, or a wire on its way through a row.
struct Place {
  int row = 0;
  double width = 0, x = 0;
  std::vector<std::size_t> below, above; // places of neighbouring rows
};

class Arranger {
public:
  Arranger(const std::vector<RowItem>& items, const std::vector<RowWire>& wires, double gap)
      : gap_(gap), bends_(wires.size()) {
    for (const RowItem& item : items)
      places_.push_back({item.row, item.width, 0.0, {}, {}});
    for (std::size_t w = 0; w < wires.size(); ++w)
      thread(wires[w], bends_[w]);
    for (const Place& place : places_) {
      lowest_ = std::min(lowest_, place.row);
      highest_ = std::max(highest_, place.row);
    }
  }

  void run(int base, const std::vector<double>& fixed) {
    if (fixed.empty()) arrange(base, nullptr);
    for (std::size_t p = 0; p < fixed.size(); ++p)
      places_[p].x = fixed[p];
    for (int row = base + 1; row <= highest_; ++row)
      arrange(row, &Place::below);
    for (int row = base - 1; row >= lowest_; --row)
      arrange(row, &Place::above);
  }

  [[nodiscard]] RowLayout result(std::size_t items) const {
    RowLayout out;
    out.left = std::numeric_limits<double>::max();
    out.right = std::numeric_limits<double>::lowest();
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const Place& place = places_[p];
      if (p < items) out.x.push_back(place.x);
      out.left = std::min(out.left, place.x - place.width / 2);
      out.right = std::max(out.right, place.x + place.width / 2);
    }
    for (const std::vector<std::size_t>& bends : bends_) {
      out.bends.emplace_back();
      for (const std::size_t place : bends)
        out.bends.back().push_back(places_[place].x);
    }
    return out;
  }

private:
  void thread(const RowWire& wire, std::vector<std::size_t>& bends) {
    const bool upward = places_[wire.a].row < places_[wire.b].row;
    const std::size_t low = upward ? wire.a : wire.b, high = upward ? wire.b : wire.a;
    if (places_[low].row == places_[high].row) return;
    std::size_t at = low;
    for (int row = places_[low].row + 1; row < places_[high].row; ++row) {
      bends.push_back(places_.size());
      places_.push_back({row, bend_width, 0.0, {at}, {}});
      places_[at].above.push_back(bends.back());
      at = bends.back();
    }
    places_[at].above.push_back(high);
    places_[high].below.push_back(at);
  }

  void arrange(int row, std::vector<std::size_t> Place::*side) {
    std::vector<std::size_t> members;
    std::vector<double> wanted(places_.size(), 0.0);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (places_[p].row != row) continue;
      members.push_back(p);
      if (side == nullptr) continue;
      for (const std::size_t other : places_[p].*side)
        wanted[p] += places_[other].x / static_cast<double>((places_[p].*side).size());
    }
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    std::vector<double> at, widths;
    for (const std::size_t p : members) {
      at.push_back(wanted[p]);
      widths.push_back(places_[p].width);
    }
    const std::vector<double> x = spread(at, widths, gap_);
    for (std::size_t i = 0; i < members.size(); ++i)
      places_[members[i]].x = x[i];
  }

  double gap_;
  std::vector<Place> places_;
  std::vector<std::vector<std::size_t>> bends_;
  int lowest_ = std::numeric_limits<int>::max(), highest_ = std::numeric_limits<int>::lowest();
};

} // namespace

std::vector<double> spread(const std::vector<double>& wanted, const std::vector<double>& widths,
                           double gap) {
  struct Pool {
    double sum = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> offsets; // of each centre from the first when all stand close
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    offsets.push_back(i == 0 ? 0.0 : offsets.back() + (widths[i - 1] + widths[i]) / 2 + gap);
    pools.push_back({wanted[i] - offsets[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> x;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i)
      x.push_back(pool.mean() + offsets[x.size()]);
  }
  return x;
}

RowLayout lay_out_rows(const std::vector<RowItem>& items, const std::vector<RowWire>& wires,
                       int base, double gap, const std::vector<double>& fixed) {
  if (items.empty()) return {};
  Arranger arranger(items, wires, gap);
  arranger.run(base, fixed);
  return arranger.result(items.size());
}

} // namespace clustersim
