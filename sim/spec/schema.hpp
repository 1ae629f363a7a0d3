#pragma once
// One table per kind of object drives everything that is known about its keys: reading, defaults,
// ranges, the echo of resolved values, error texts and the reference (docs/reference/input.md).
// There is no second list of keys.
//
//   Schema<Link> s{"link", "A kind of link", {}};
//   add(s, "link.bandwidth", at(&Link::bandwidth), "one unit, one direction").required();

#include "base/precision.hpp"
#include "spec/schema_values.hpp"
#include "spec/tree.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

template <class T>
struct Field {
  FieldInfo info;
  std::function<bool(const Given&, T&)> read;         // reports its own errors
  std::function<std::optional<Shown>(const T&)> show; // nothing: absent, or not worth an echo
};

template <class T>
struct Schema {
  std::string name;            // "chip"
  std::string title;           // one sentence for the reference
  std::deque<Field<T>> fields; // a FieldTuner stays good while more are added
};

/// Fluent decoration of the field just added.
class FieldTuner {
public:
  explicit FieldTuner(FieldInfo& info) : info_(&info) {}
  FieldTuner& required() { return info_->required = true, *this; }
  /// Needed unless the file has this table.
  FieldTuner& required_unless(std::string table) {
    return info_->excused_by = std::move(table), required();
  }
  /// Needed once the file has its table.
  FieldTuner& required_in_table() { return info_->only_in_table = true, required(); }
  /// Why this default. With `derived`, what the default is computed from.
  FieldTuner& because(std::string reason) { return info_->reason = std::move(reason), *this; }
  FieldTuner& derived(std::string rule) {
    info_->derived = true;
    return because(std::move(rule));
  }
  FieldTuner& between(double low, double high) {
    info_->low = low, info_->high = high, info_->open_low = false;
    return *this;
  }
  FieldTuner& above(double low, double high) {
    info_->low = low, info_->high = high, info_->open_low = true;
    return *this;
  }
  FieldTuner& alias(std::string name) { return info_->aliases.push_back(std::move(name)), *this; }
  /// A known name of something this version cannot do: only `value` ("1", "0 or 1") is accepted (""
  /// = leave it out).
  FieldTuner& only(std::string value, std::string feature) {
    info_->only = std::move(value), info_->feature = std::move(feature);
    return *this;
  }
  FieldTuner& example(std::string text) { return info_->example = std::move(text), *this; }
  FieldTuner& length() { return info_->binary_suffix = true, *this; }

private:
  FieldInfo* info_;
};

/// Accessor of a possibly nested member.
template <class T, class M>
auto at(M T::*member) {
  return [member](auto& object) -> auto& {
    return object.*member;
  };
}
template <class T, class M, class N>
auto at(M T::*outer, N M::*inner) {
  return [ outer, inner ](auto& object) -> auto& {
    return (object.*outer).*inner;
  };
}

/// A field whose type follows from the member's: quantity, count, real, bool, text, list of texts,
/// precision, and optionals of them.
template <class T, class Access>
FieldTuner add(Schema<T>& schema, std::string key, Access access, std::string help) {
  using Member = std::remove_cvref_t<decltype(access(std::declval<T&>()))>;
  Field<T> field;
  field.info = value_info<Member>();
  field.info.key = std::move(key);
  field.info.help = std::move(help);
  field.read = [access](const Given& given, T& object) {
    return read_value(given, access(object));
  };
  field.show = [access](const T& object) { return show_value(access(object)); };
  schema.fields.push_back(std::move(field));
  return FieldTuner(schema.fields.back().info);
}

template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

/// An enumeration, or a text limited to a few words (E = std::string).
template <class T, class Access, class E>
FieldTuner add_choice(Schema<T>& schema, std::string key, Access access, Choices<E> choices,
                      std::string help) {
  Field<T> field;
  field.info.type = "word";
  field.info.key = std::move(key);
  field.info.help = std::move(help);
  for (const auto& [word, value] : choices) {
    field.info.choices.push_back(word);
  }
  field.read = [access, choices](const Given& given, T& object) {
    const std::optional<std::size_t> which = read_choice(given);
    if (which) {
      access(object) = choices[*which].second;
    }
    return which.has_value();
  };
  field.show = [access, choices](const T& object) -> std::optional<Shown> {
    for (const auto& [word, value] : choices) {
      if (value == access(object)) {
        return Shown{word, "", std::nullopt};
      }
    }
    return std::nullopt;
  };
  schema.fields.push_back(std::move(field));
  return FieldTuner(schema.fields.back().info);
}

/// One field per precision: prefix + ".bf16" and so on.
template <class T, class Access>
void add_precisions(Schema<T>& schema, const std::string& prefix, Access access,
                    const std::string& help, double high) {
  for (const Precision precision : all_precisions) {
    auto one = [ access, precision ](auto& object) -> auto& {
      return access(object)[precision];
    };
    add(schema, prefix + "." + std::string(name_of(precision)), one, help).above(0, high);
    schema.fields.back().info.family = prefix + ".PRECISION";
  }
}

/// A field that reads its own shape: tables, lists of lists. Echoed by `show` if given.
template <class T, class Read>
FieldTuner add_custom(Schema<T>& schema, std::string key, std::string type, std::string example,
                      Read read, std::string help) {
  Field<T> field;
  field.info.type = std::move(type);
  field.info.example = std::move(example);
  field.info.key = std::move(key);
  field.info.help = std::move(help);
  field.read = std::move(read);
  field.show = [](const T&) { return std::optional<Shown>(); };
  schema.fields.push_back(std::move(field));
  return FieldTuner(schema.fields.back().info);
}

/// A known name that has no member yet: see FieldTuner::only.
template <class T>
FieldTuner add_reserved(Schema<T>& schema, std::string key, std::string value,
                        std::string feature) {
  auto tuner = add_custom(
      schema, std::move(key), "reserved", "", [](const Given&, T&) { return true; }, "");
  tuner.only(std::move(value), std::move(feature));
  return tuner;
}

// ---- reading
// ----------------------------------------------------------------------------------------

struct BoundField {
  const FieldInfo* info = nullptr;
  std::function<bool(const Given&)> read;
  std::function<std::optional<Shown>()> show;
};

/// Walks `root`, hands each value to its field, reports unknown and missing keys.
[[nodiscard]] Reading read_fields(const std::vector<BoundField>& fields, const Tree& root,
                                  ReadContext& context);
/// Appends one resolved value per field to context.echo.
void echo_fields(const std::vector<BoundField>& fields, const Reading& reading,
                 ReadContext& context);

template <class T>
std::vector<BoundField> bind(const Schema<T>& schema, T& object) {
  std::vector<BoundField> bound;
  bound.reserve(schema.fields.size());
  for (const Field<T>& field : schema.fields) {
    bound.push_back({&field.info,
                     [&field, &object](const Given& given) { return field.read(given, object); },
                     [&field, &object] { return field.show(object); }});
  }
  return bound;
}

template <class T>
Reading read_object(const Schema<T>& schema, const Tree& root, T& object, ReadContext& context) {
  return read_fields(bind(schema, object), root, context);
}

/// After the derived defaults are filled in.
template <class T>
void echo_object(const Schema<T>& schema, T& object, const Reading& reading, ReadContext& context) {
  echo_fields(bind(schema, object), reading, context);
}

/// [[key]] tables, each read by `item`.
template <class T, class Item, class Access>
FieldTuner add_tables(Schema<T>& schema, std::string key, const Schema<Item>& item, Access access,
                      std::string help) {
  auto tuner = add_custom(
      schema, key, "tables", "[[" + key + "]]",
      [&item, access](const Given& given, T& object) {
        const std::vector<const Tree*> tables = read_tables(given);
        for (std::size_t i = 0; i < tables.size(); ++i) {
          ReadContext inner{given.context.out,
                            given.context.prefix + given.info.key + "[" + std::to_string(i) + "]."};
          Item one;
          const Reading reading = read_object(item, *tables[i], one, inner);
          echo_object(item, one, reading, inner);
          append(given.context.echo, inner.echo);
          access(object).push_back(std::move(one));
        }
        return true;
      },
      std::move(help));
  schema.fields.back().info.item = [&item] { return documented(item); };
  return tuner;
}

template <class T>
std::vector<Documented> documented(const Schema<T>& schema) {
  const auto blank =
      std::make_unique<const T>(); // g++ 12 mistakes one on the stack (GCC bug 80635)
  std::vector<Documented> result;
  for (const Field<T>& field : schema.fields) {
    result.push_back({&field.info, field.show(*blank)});
  }
  return result;
}

} // namespace clustersim
