#include "base/unit_table.hpp"

#include "base/bug.hpp"
#include "base/quantity.hpp"

#include <array>

namespace clustersim::units {
namespace {

constexpr double minute = 60.0, hour = 3600.0, day = 24.0 * hour;
constexpr double year = 365.0 * day; // 8,760 h, as electricity and cloud prices count it
constexpr double kibi = 1024.0;

// Ordered by size: the formatter takes the largest that keeps the number at or above one.
constexpr std::array<Prefix, 1> no_prefix{{{"", 0, 1}}};
constexpr std::array<Prefix, 7> large_prefixes{
    {{"", 0, 1}, {"k", 3, 1}, {"M", 6, 1}, {"G", 9, 1}, {"T", 12, 1}, {"P", 15, 1}, {"E", 18, 1}}};
constexpr std::array<Prefix, 11> large_and_binary_prefixes{{{"", 0, 1},
                                                            {"k", 3, 1},
                                                            {"M", 6, 1},
                                                            {"G", 9, 1},
                                                            {"T", 12, 1},
                                                            {"P", 15, 1},
                                                            {"E", 18, 1},
                                                            {"Ki", 0, kibi},
                                                            {"Mi", 0, kibi* kibi},
                                                            {"Gi", 0, kibi* kibi* kibi},
                                                            {"Ti", 0, kibi* kibi* kibi* kibi}}};
constexpr std::array<Prefix, 4> small_prefixes{
    {{"n", -9, 1}, {"u", -6, 1}, {"m", -3, 1}, {"", 0, 1}}};

constexpr std::array<Prefix, 11> small_and_large_prefixes{{{"p", -12, 1},
                                                           {"n", -9, 1},
                                                           {"u", -6, 1},
                                                           {"m", -3, 1},
                                                           {"", 0, 1},
                                                           {"k", 3, 1},
                                                           {"M", 6, 1},
                                                           {"G", 9, 1},
                                                           {"T", 12, 1},
                                                           {"P", 15, 1},
                                                           {"E", 18, 1}}};

constexpr std::array<BaseUnit, 2> data{
    {{"B", 1.0, Prefixes::large_and_binary}, {"b", 0.125, Prefixes::large_and_binary}}};
constexpr std::array<BaseUnit, 5> time{
    {{"s", 1.0, Prefixes::small}, {"min", minute}, {"h", hour}, {"day", day}, {"year", year}}};
constexpr std::array<BaseUnit, 2> work{
    {{"FLOP", 1.0, Prefixes::large}, {"OP", 1.0, Prefixes::large}}};
constexpr std::array<BaseUnit, 2> energy{
    {{"J", 1.0, Prefixes::small_and_large}, {"Wh", hour, Prefixes::large}}};
constexpr std::array<BaseUnit, 1> joule{{{"J", 1.0, Prefixes::small_and_large}}};
constexpr std::array<BaseUnit, 1> money{{{"USD", 1.0, Prefixes::large}}};
constexpr std::array<BaseUnit, 1> frequency{{{"Hz", 1.0, Prefixes::large}}};
constexpr std::array<BaseUnit, 1> power{{{"W", 1.0, Prefixes::large}}};

constexpr std::array<Divisor, 1> per_second{{{"s", 1.0}}};
constexpr std::array<Divisor, 2> per_byte{{{"B", 1.0}, {"byte", 1.0}}};
constexpr std::array<Divisor, 2> per_work{{{"FLOP", 1.0}, {"OP", 1.0}}};
constexpr std::array<Divisor, 3> per_time{{{"s", 1.0}, {"h", hour}, {"year", year}}};
constexpr std::array<Divisor, 4> per_energy{
    {{"kWh", 1e3 * hour}, {"MWh", 1e6 * hour}, {"Wh", hour}, {"J", 1.0}}};

constexpr Dimension size_dimension{
    "a size", "a size such as \"80 GiB\" or \"50 MB\"", data, {}, "B", "", Prefixes::large};
constexpr Dimension time_dimension{
    "a time", "a time such as \"1.2 us\" or \"3 ms\"", time, {}, "s", "", Prefixes::small};
constexpr Dimension work_dimension{
    "an amount of work", "an amount of work such as \"5.2 TFLOP\"", work, {}, "FLOP", "",
    Prefixes::large};
constexpr Dimension energy_dimension{"an energy",
                                     "an energy such as \"2 kWh\" or \"500 J\"",
                                     energy,
                                     {},
                                     "J",
                                     "",
                                     Prefixes::small_and_large};
constexpr Dimension money_dimension{
    "an amount of money", "an amount of money such as \"35000 USD\"", money, {}, "USD"};
constexpr Dimension frequency_dimension{
    "a frequency", "a frequency such as \"1830 MHz\"", frequency, {}, "Hz", "", Prefixes::large};
constexpr Dimension bandwidth_dimension{
    "a bandwidth",  "a bandwidth such as \"3.35 TB/s\" or \"400 Gb/s\"", data, per_second, "B", "s",
    Prefixes::large};
constexpr Dimension rate_dimension{"a rate of work",
                                   "a rate of work such as \"989.4 TFLOP/s\" or \"1979 TOP/s\"",
                                   work,
                                   per_second,
                                   "FLOP",
                                   "s",
                                   Prefixes::large};
constexpr Dimension power_dimension{
    "a power", "a power such as \"700 W\" or \"10.2 kW\"", power, {}, "W", "", Prefixes::large};
constexpr Dimension hire_dimension{"a price per time",
                                   "a price per time such as \"2.99 USD/h\" or \"1200 USD/year\"",
                                   money,
                                   per_time,
                                   "USD",
                                   "h"};
constexpr Dimension tariff_dimension{"a price of energy",
                                     "a price of energy such as \"0.12 USD/kWh\"",
                                     money,
                                     per_energy,
                                     "USD",
                                     "kWh"};
constexpr Dimension intensity_dimension{
    "an intensity", "an intensity such as \"295 FLOP/B\"", work, per_byte, "FLOP", "B"};
constexpr Dimension byte_energy_dimension{
    "an energy per byte",     "an energy per byte such as \"120 pJ/B\"", joule, per_byte, "J", "B",
    Prefixes::small_and_large};
constexpr Dimension work_energy_dimension{"an energy per operation",
                                          "an energy per operation such as \"0.9 pJ/FLOP\"",
                                          joule,
                                          per_work,
                                          "J",
                                          "FLOP",
                                          Prefixes::small_and_large};

constexpr std::array<const Dimension*, 14> dimensions{
    &size_dimension,        &time_dimension,       &work_dimension,   &energy_dimension,
    &money_dimension,       &power_dimension,      &rate_dimension,   &frequency_dimension,
    &bandwidth_dimension,   &hire_dimension,       &tariff_dimension, &intensity_dimension,
    &byte_energy_dimension, &work_energy_dimension};

} // namespace

std::span<const Prefix> prefixes_of(Prefixes set) {
  switch (set) {
  case Prefixes::none:
    return no_prefix;
  case Prefixes::large:
    return large_prefixes;
  case Prefixes::large_and_binary:
    return large_and_binary_prefixes;
  case Prefixes::small:
    return small_prefixes;
  case Prefixes::small_and_large:
    return small_and_large_prefixes;
  }
  throw Bug("prefix set outside its enumeration");
}

std::span<const Dimension* const> all_dimensions() {
  return dimensions;
}

// clang-format off
template <> const Dimension& dimension_of<Bytes>() { return size_dimension; }
template <> const Dimension& dimension_of<Seconds>() { return time_dimension; }
template <> const Dimension& dimension_of<Flops>() { return work_dimension; }
template <> const Dimension& dimension_of<Joules>() { return energy_dimension; }
template <> const Dimension& dimension_of<Dollars>() { return money_dimension; }
template <> const Dimension& dimension_of<Hertz>() { return frequency_dimension; }
template <> const Dimension& dimension_of<BytesPerSecond>() { return bandwidth_dimension; }
template <> const Dimension& dimension_of<FlopsPerSecond>() { return rate_dimension; }
template <> const Dimension& dimension_of<Watts>() { return power_dimension; }
template <> const Dimension& dimension_of<DollarsPerSecond>() { return hire_dimension; }
template <> const Dimension& dimension_of<DollarsPerJoule>() { return tariff_dimension; }
template <> const Dimension& dimension_of<FlopsPerByte>() { return intensity_dimension; }
template <> const Dimension& dimension_of<JoulesPerByte>() { return byte_energy_dimension; }
template <> const Dimension& dimension_of<JoulesPerFlop>() { return work_energy_dimension; }
// clang-format on

} // namespace clustersim::units
