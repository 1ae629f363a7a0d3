#include "spec/schema_values.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

constexpr std::size_t longest_text = 4096;

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return (value < 0 ? "-" : "") + digits;
}

std::string bound_text(const FieldInfo& info, double bound) {
  if (info.show_bound) {
    return info.show_bound(bound);
  }
  if (info.type == "count") {
    return grouped(static_cast<std::int64_t>(bound));
  }
  return shortest(bound);
}

// "8k" and "1M" of sequence lengths are binary: 8192, 1048576.
std::optional<std::int64_t> suffixed_count(const std::string& text) {
  const std::string body = trim(text);
  if (body.size() < 2 || body.size() > 8) {
    return std::nullopt;
  }
  const char last = body.back();
  const std::int64_t factor = last == 'k' || last == 'K' ? 1024 : last == 'M' ? 1048576 : 0;
  std::int64_t number = 0;
  for (const char c : body.substr(0, body.size() - 1)) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + (c - '0');
  }
  return factor == 0 ? std::nullopt : std::optional(number * factor);
}

template <int B, int T, int W, int E, int M>
std::string si_unit_of(Quantity<B, T, W, E, M>) {
  if (B == 0 && T == -1 && W == 0 && E == 0 && M == 0) {
    return "Hz";
  }
  if (B == 0 && T == -1 && W == 0 && E == 1 && M == 0) {
    return "W";
  }
  std::string over, under;
  const auto place = [&](int power, const char* symbol) {
    std::string& side = power > 0 ? over : under;
    for (int i = 0; i < std::abs(power); ++i) {
      side += (side.empty() ? "" : " ") + std::string(symbol);
    }
  };
  place(B, "B"), place(W, "FLOP"), place(E, "J"), place(M, "USD"), place(T, "s");
  return under.empty() ? over : (over.empty() ? "1" : over) + "/" + under;
}

} // namespace

Place Reading::place_of(const std::string& key) const {
  if (const auto it = given.find(key); it != given.end()) {
    return it->second.place;
  }
  for (std::string table = key; !table.empty();) {
    const std::size_t dot = table.rfind('.');
    table = dot == std::string::npos ? "" : table.substr(0, dot);
    if (const auto it = tables.find(table); it != tables.end()) {
      return it->second;
    }
  }
  return {};
}

void report(const Given& given, std::string message, std::string suggestion) {
  given.context.out.add(diagnose(given.tree.place, std::move(message), expected_text(given.info),
                                 std::move(suggestion)));
}

std::string range_text(const FieldInfo& info) {
  const bool low = std::isfinite(info.low);
  const bool high = std::isfinite(info.high);
  if (!low && !high) {
    return {};
  }
  const std::string from = low ? bound_text(info, info.low) : "";
  const std::string to = high ? bound_text(info, info.high) : "";
  if (low && info.open_low) {
    return "above " + from + (high ? ", at most " + to : "");
  }
  return low && high ? "from " + from + " to " + to : low ? "at least " + from : "at most " + to;
}

std::string expected_text(const FieldInfo& info) {
  if (!info.choices.empty()) {
    std::string words = info.choices.size() == 1 ? "" : "one of ";
    for (std::size_t i = 0; i < info.choices.size(); ++i) {
      words += (i > 0 ? ", " : "") + ("\"" + info.choices[i] + "\"");
    }
    return words;
  }
  const std::string range = range_text(info);
  const std::string what = info.type == "count" ? "a whole number" : info.example;
  return what + (range.empty() ? "" : (info.type == "count" ? " " : ", ") + range) +
         (info.binary_suffix ? ", or \"8k\" for 8192" : "");
}

bool check_range(const Given& given, double number) {
  const FieldInfo& info = given.info;
  const bool fits = std::isfinite(number) && number <= info.high &&
                    (info.open_low ? number > info.low : number >= info.low);
  if (!fits) {
    report(given, written(given.tree) + " is out of range for '" + info.key + "'");
  }
  return fits;
}

std::optional<std::int64_t> read_count(const Given& given) {
  std::optional<std::int64_t> number;
  if (given.tree.type == TreeType::integer) {
    number = given.tree.integer;
  } else if (given.info.binary_suffix && given.tree.type == TreeType::string) {
    number = suffixed_count(given.tree.string);
  }
  if (!number) {
    std::string remedy;
    if (given.tree.type == TreeType::string && !given.info.binary_suffix &&
        suffixed_count(given.tree.string)) {
      remedy = "write all decimal digits; only sequence lengths take k and M";
    }
    const bool table = given.tree.type == TreeType::table;
    report(given,
           (table ? "'" + given.info.key + "' is a value, not a table"
                  : written(given.tree) + " is not a whole number"),
           remedy);
    return std::nullopt;
  }
  return check_range(given, static_cast<double>(*number)) ? number : std::nullopt;
}

std::optional<std::size_t> read_choice(const Given& given) {
  const auto& choices = given.info.choices;
  if (given.tree.type == TreeType::string) {
    const auto it = std::find(choices.begin(), choices.end(), given.tree.string);
    if (it != choices.end()) {
      return static_cast<std::size_t>(it - choices.begin());
    }
  }
  const auto near = given.tree.type == TreeType::string && given.tree.string.size() <= 64
                        ? nearest_name(given.tree.string, choices)
                        : std::nullopt;
  report(given, written(given.tree) + " is not a valid '" + given.info.key + "'",
         near.value_or(""));
  return std::nullopt;
}

std::vector<const Tree*> read_tables(const Given& given) {
  std::vector<const Tree*> tables;
  const std::string expected = "[[" + given.info.key + "]] tables";
  if (given.tree.type != TreeType::array) {
    given.context.out.add(
        diagnose(given.tree.place, "'" + given.info.key + "' must be a list of tables", expected));
    return tables;
  }
  constexpr std::size_t most = 256;
  for (const Tree& item : given.tree.items) {
    if (item.type != TreeType::table) {
      given.context.out.add(
          diagnose(item.place, "'" + given.info.key + "' must be a list of tables", expected));
    } else if (tables.size() == most) {
      given.context.out.add(diagnose(item.place, "too many [[" + given.info.key + "]] tables",
                                     "at most " + std::to_string(most)));
      break;
    } else {
      tables.push_back(&item);
    }
  }
  return tables;
}

void append(std::vector<Echo>& to, const std::vector<Echo>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool read_value(const Given& given, bool& out) {
  if (given.tree.type != TreeType::boolean) {
    report(given, written(given.tree) + " is not true or false");
    return false;
  }
  out = given.tree.boolean;
  return true;
}

bool read_value(const Given& given, double& out) {
  const bool integer = given.tree.type == TreeType::integer;
  if (!integer && given.tree.type != TreeType::real) {
    report(given, written(given.tree) + " is not a number");
    return false;
  }
  const double number = integer ? static_cast<double>(given.tree.integer) : given.tree.real;
  if (!check_range(given, number)) {
    return false;
  }
  out = number;
  return true;
}

bool read_value(const Given& given, int& out) {
  const auto number = read_count(given);
  if (number) {
    out = static_cast<int>(*number);
  }
  return number.has_value();
}

bool read_value(const Given& given, std::int64_t& out) {
  const auto number = read_count(given);
  if (number) {
    out = *number;
  }
  return number.has_value();
}

bool read_value(const Given& given, std::string& out) {
  if (given.tree.type == TreeType::date) {
    out = given.tree.string;
    return true;
  }
  if (given.tree.type != TreeType::string || given.tree.string.size() > longest_text) {
    report(given, given.tree.type == TreeType::string ? "the text is longer than 4096 bytes"
                                                      : written(given.tree) + " is not a string");
    return false;
  }
  out = given.tree.string;
  return true;
}

bool read_value(const Given& given, std::vector<std::string>& out) {
  std::vector<std::string> texts;
  if (given.tree.type == TreeType::array) {
    for (const Tree& item : given.tree.items) {
      if (item.type != TreeType::string || item.string.size() > longest_text) {
        report({item, given.info, given.context}, written(item) + " is not a short string");
        return false;
      }
      texts.push_back(item.string);
    }
    out = std::move(texts);
    return true;
  }
  report(given, written(given.tree) + " is not a list");
  return false;
}

bool read_value(const Given& given, std::vector<std::int64_t>& out) {
  if (given.tree.type != TreeType::array) {
    report(given, written(given.tree) + " is not a list");
    return false;
  }
  std::vector<std::int64_t> numbers;
  for (const Tree& item : given.tree.items) {
    const auto number = read_count({item, given.info, given.context});
    if (!number) {
      return false;
    }
    numbers.push_back(*number);
  }
  out = std::move(numbers);
  return true;
}

bool read_value(const Given& given, Precision& out) {
  const auto which = read_choice(given);
  if (which) {
    out = precision_from(given.info.choices[*which]).value_or(out);
  }
  return which.has_value();
}

template <int B, int T, int W, int E, int M>
bool read_value(const Given& given, Quantity<B, T, W, E, M>& out) {
  using Q = Quantity<B, T, W, E, M>;
  UnitError error;
  const bool string = given.tree.type == TreeType::string;
  const std::string text = string ? given.tree.string : written(given.tree);
  const auto quantity = text.size() > 64 ? std::optional<Q>() : parse_quantity<Q>(text, error);
  if (!quantity || !string) {
    report(given,
           error.message.empty() ? written(given.tree) + " is not a quantity" : error.message,
           error.suggestion);
    return false;
  }
  if (!check_range(given, quantity->si())) {
    return false;
  }
  out = *quantity;
  return true;
}

std::optional<Shown> show_value(bool value) {
  return Shown{value ? "true" : "false", "", std::nullopt};
}
std::optional<Shown> show_value(double value) {
  return Shown{shortest(value), "1", value};
}
std::optional<Shown> show_value(int value) {
  return show_value(std::int64_t{value});
}
std::optional<Shown> show_value(std::int64_t value) {
  return Shown{std::to_string(value), "1", static_cast<double>(value)};
}
std::optional<Shown> show_value(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional(Shown{value, "", std::nullopt});
}
std::optional<Shown> show_value(const std::vector<std::string>& value) {
  std::string joined;
  for (const std::string& item : value) {
    joined += (joined.empty() ? "" : ", ") + item;
  }
  return show_value(joined);
}
std::optional<Shown> show_value(const std::vector<std::int64_t>& value) {
  std::vector<std::string> texts;
  for (const std::int64_t item : value) {
    texts.push_back(std::to_string(item));
  }
  return show_value(texts);
}
std::optional<Shown> show_value(Precision value) {
  return Shown{std::string(name_of(value)), "", std::nullopt};
}
template <int B, int T, int W, int E, int M>
std::optional<Shown> show_value(Quantity<B, T, W, E, M> value) {
  return Shown{format_quantity(value, 6), si_unit_of(value), value.si()};
}

#define CLUSTERSIM_QUANTITY(Q)                                                                     \
  template bool read_value(const Given&, Q&);                                                      \
  template std::optional<Shown> show_value(Q);

CLUSTERSIM_QUANTITY(Bytes)
CLUSTERSIM_QUANTITY(BytesPerSecond)
CLUSTERSIM_QUANTITY(Seconds)
CLUSTERSIM_QUANTITY(FlopsPerSecond)
CLUSTERSIM_QUANTITY(Hertz)
CLUSTERSIM_QUANTITY(Watts)
CLUSTERSIM_QUANTITY(Dollars)
CLUSTERSIM_QUANTITY(DollarsPerSecond)
CLUSTERSIM_QUANTITY(DollarsPerJoule)
CLUSTERSIM_QUANTITY(JoulesPerByte)
CLUSTERSIM_QUANTITY(JoulesPerFlop)
#undef CLUSTERSIM_QUANTITY

} // namespace clustersim
