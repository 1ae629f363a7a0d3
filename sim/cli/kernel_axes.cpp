#include "cli/kernel_axes.hpp"

#include "base/range.hpp"
#include "base/text.hpp"
#include "cli/failure.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim::cli {
namespace {

/// Dimensions that take the same values together.
struct Group {
  std::vector<std::string> names;
  std::vector<double> values;
};

std::vector<double> quantities(const auto& range) {
  std::vector<double> values;
  for (const auto& quantity : range) {
    values.push_back(quantity.si());
  }
  return values;
}

std::vector<double> range_of(const Axis& axis, const std::string& text, const std::string& where) {
  RangeError error;
  if (axis.form == AxisForm::size) {
    if (const auto sizes = parse_quantity_range<Bytes>(text, error)) {
      return quantities(*sizes);
    }
  } else if (axis.form == AxisForm::watts) {
    if (const auto watts = parse_quantity_range<Watts>(text, error)) {
      return quantities(*watts);
    }
  } else {
    const Suffixes suffixes = axis.form == AxisForm::tokens ? Suffixes::binary : Suffixes::none;
    if (const auto counts = parse_count_range(text, suffixes, error)) {
      return {counts->begin(), counts->end()};
    }
  }
  throw misuse(fmt::format("{}: {}", where, error.message),
               error.expected.empty() ? "" : "expected " + error.expected);
}

const Axis& axis_named(const std::vector<Axis>& axes, const std::string& name) {
  std::vector<std::string> known;
  for (const Axis& axis : axes) {
    if (canonical_id(name) == axis.name) {
      return axis;
    }
    known.emplace_back(axis.name);
  }
  const auto near = nearest_name(name, known);
  throw misuse(fmt::format("--sweep: this kernel has no dimension '{}'", printable(name)),
               near ? fmt::format("did you mean \"{}\"?", *near)
                    : fmt::format("expected one of {}", fmt::join(known, ", ")));
}

bool has(const std::vector<Group>& groups, std::string_view name) {
  return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
    return std::find(group.names.begin(), group.names.end(), name) != group.names.end();
  });
}

/// "m,n=1..8" → the dimensions m and n, together.
Group swept(const std::string& text, const std::vector<Axis>& axes,
            const std::vector<Group>& before) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw misuse(fmt::format("--sweep '{}': expected KEY=RANGE", printable(text)),
                 "such as --sweep m=128..8192:x2");
  }
  Group group;
  for (const std::string& word : split(text.substr(0, equals), ',')) {
    const Axis& axis = axis_named(axes, trim(word));
    std::string name(axis.name);
    if (has(before, name) || has({group}, name)) {
      throw misuse(fmt::format("--sweep: {} is swept twice", name));
    }
    group.values = range_of(axis, text.substr(equals + 1), "--sweep " + name);
    group.names.push_back(std::move(name));
  }
  return group;
}

std::vector<Group> groups_of(const KernelOptions& options, const std::vector<Axis>& axes) {
  std::vector<Group> groups;
  for (const std::string& sweep : options.sweeps) {
    groups.push_back(swept(sweep, axes, groups));
  }
  for (const Axis& axis : axes) {
    const std::string& given = options.*axis.given;
    const std::string text = given.empty() ? std::string(axis.otherwise) : given;
    std::string name(axis.name);
    if (has(groups, name)) {
      continue;
    }
    if (!text.empty()) {
      groups.push_back({{name}, range_of(axis, text, "--" + name)});
    } else if (axis.needed) {
      throw misuse(
          fmt::format("this kernel needs --{}", name),
          fmt::format("such as --{} {}", name, axis.form == AxisForm::size ? "256MiB" : "4096"));
    }
  }
  return groups;
}

} // namespace

std::vector<Point> points_of(const KernelOptions& options, const std::vector<Axis>& axes) {
  std::vector<Point> points{{}};
  for (const Group& group : groups_of(options, axes)) {
    if (points.size() * group.values.size() > most_range_points) {
      throw misuse(fmt::format("these ranges span more than {} points", most_range_points),
                   "take larger steps, or fewer ranges");
    }
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const double value : group.values) {
        longer.push_back(point);
        for (const std::string& name : group.names) {
          longer.back()[name] = value;
        }
      }
    }
    points = std::move(longer);
  }
  return points;
}

} // namespace clustersim::cli
