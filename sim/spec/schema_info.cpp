// What a key of each type takes, and its range unless the schema narrows it.

#include "base/units.hpp"
#include "spec/schema_values.hpp"

namespace clustersim {
namespace {

// Far beyond any machine, and far below what could overflow a product of a few of them.
template <class Q>
FieldInfo quantity_info(std::string type, double high) {
  FieldInfo info;
  info.type = std::move(type);
  info.example = std::string(quantity_example<Q>());
  info.figure = true;
  info.low = 0;
  info.high = high;
  info.open_low = true;
  info.show_bound = [](double si) { return si == 0 ? "0" : format_quantity(Q{si}); };
  return info;
}

FieldInfo plain_info(std::string type, std::string example) {
  FieldInfo info;
  info.type = std::move(type);
  info.example = std::move(example);
  return info;
}

} // namespace

template <>
FieldInfo value_info<bool>() {
  return plain_info("boolean", "true or false");
}
template <>
FieldInfo value_info<std::string>() {
  return plain_info("text", "a string");
}
template <>
FieldInfo value_info<std::vector<std::string>>() {
  return plain_info("list of texts", "a list such as [\"one\", \"two\"]");
}
template <>
FieldInfo value_info<std::vector<std::int64_t>>() {
  return plain_info("list of counts", "a list such as [0, 3]");
}
template <>
FieldInfo value_info<double>() {
  FieldInfo info = plain_info("number", "a number");
  info.figure = true;
  info.low = 0;
  info.high = 1e15;
  return info;
}
template <>
FieldInfo value_info<std::optional<double>>() {
  return value_info<double>();
}
template <>
FieldInfo value_info<std::int64_t>() {
  FieldInfo info = plain_info("count", "a whole number");
  info.figure = true;
  info.low = 0;
  info.high = 1e9;
  return info;
}
template <>
FieldInfo value_info<int>() {
  return value_info<std::int64_t>();
}
template <>
FieldInfo value_info<std::optional<std::int64_t>>() {
  return value_info<std::int64_t>();
}
template <>
FieldInfo value_info<Precision>() {
  FieldInfo info = plain_info("word", "");
  for (const Precision precision : all_precisions) {
    info.choices.emplace_back(name_of(precision));
  }
  return info;
}

#define CLUSTERSIM_QUANTITY(Q, noun, high)                                                         \
  template <>                                                                                      \
  FieldInfo value_info<Q>() {                                                                      \
    return quantity_info<Q>(noun, high);                                                           \
  }                                                                                                \
  template <>                                                                                      \
  FieldInfo value_info<std::optional<Q>>() {                                                       \
    return quantity_info<Q>(noun, high);                                                           \
  }

CLUSTERSIM_QUANTITY(Bytes, "size", 1e18)
CLUSTERSIM_QUANTITY(BytesPerSecond, "bandwidth", 1e17)
CLUSTERSIM_QUANTITY(Seconds, "time", 1e4)
CLUSTERSIM_QUANTITY(FlopsPerSecond, "rate", 1e20)
CLUSTERSIM_QUANTITY(Hertz, "frequency", 1e12)
CLUSTERSIM_QUANTITY(Watts, "power", 1e9)
CLUSTERSIM_QUANTITY(Dollars, "money", 1e12)
CLUSTERSIM_QUANTITY(DollarsPerSecond, "money per time", 1e6)
CLUSTERSIM_QUANTITY(DollarsPerJoule, "money per energy", 1.0)
CLUSTERSIM_QUANTITY(JoulesPerByte, "energy per byte", 1e-6)
CLUSTERSIM_QUANTITY(JoulesPerFlop, "energy per operation", 1e-6)
#undef CLUSTERSIM_QUANTITY

} // namespace clustersim
