#include "report/listing.hpp"

#include "base/text.hpp"
#include "report/answer.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

/// Keys of the entry itself without its own name in front of them.
std::string short_key(const Details& details, const std::string& key) {
  const std::string own = fmt::format("{}.{}.", details.kind, details.id);
  return key.starts_with(own) ? key.substr(own.size()) : key;
}

/// Sources by number, so that a long citation is printed once.
class Footnotes {
public:
  std::string mark(const std::string& source) {
    const auto [entry, is_new] = numbers_.try_emplace(source, sources_.size() + 1);
    if (is_new) {
      sources_.push_back(source);
    }
    return fmt::format("[{}]", entry->second);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      out += hanging(pad_left(fmt::format("[{}]", i + 1), 6) + " ", printable(sources_[i]));
    }
    return out;
  }

private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> sources_;
};

/// The citation by number, else how the value was chosen; its date, and remarks.
std::string provenance(const ResolvedValue& value, Footnotes& footnotes) {
  std::vector<std::string> parts;
  if (value.origin == Origin::calibration) {
    parts.push_back("calibration: " + value.where);
  }
  if (!value.source.empty()) {
    parts.push_back(footnotes.mark(value.source));
  } else if (value.origin != Origin::catalogue && value.origin != Origin::calibration) {
    const std::string origin{name_of(value.origin)};
    parts.push_back(value.where.empty() ? origin : origin + ": " + value.where);
  }
  for (const std::string& part : {value.date, value.note}) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  if (!value.fitted.empty()) {
    parts.push_back("set on measured runs");
  }
  return printable(joined(parts));
}

} // namespace

std::string render_list_text(const Listing& listing, TextStyle style) {
  std::vector<Column> columns{{"id"}};
  const std::size_t facts = listing.entries.empty() ? 0 : listing.entries.front().facts.size();
  for (std::size_t i = 0; i < facts; ++i) {
    const bool numbers = std::any_of(listing.entries.begin(), listing.entries.end(),
                                     [&](const ListedEntry& e) { return e.facts[i].number; });
    columns.push_back(
        {listing.entries.front().facts[i].head, numbers ? Align::right : Align::left});
  }
  columns.push_back({"name"});
  std::vector<std::vector<std::string>> rows;
  for (const ListedEntry& entry : listing.entries) {
    std::vector<std::string> row{printable(entry.id)};
    for (const ListedFact& fact : entry.facts) {
      row.push_back(printable(fact.text));
    }
    std::string name = printable(entry.name);
    if (style.detail == Detail::full && !entry.aliases.empty()) {
      name += paint(Ink::dim, " (" + printable(joined(entry.aliases)) + ")", style);
    }
    row.push_back(std::move(name));
    rows.push_back(std::move(row));
  }
  return table(columns, rows, style, "");
}

std::string render_list_json(const Listing& listing, std::string_view version) {
  Json out{{"schema", "clustersim.list/1"}, {"version", version}, {"kind", listing.kind}};
  out["entries"] = Json::array();
  for (const ListedEntry& entry : listing.entries) {
    Json row{
        {"id", entry.id}, {"name", entry.name}, {"aliases", entry.aliases}, {"path", entry.path}};
    for (const ListedFact& fact : entry.facts) {
      if (fact.number) {
        row[fact.key] = *fact.number;
      } else {
        row[fact.key] = fact.text;
      }
    }
    out["entries"].push_back(std::move(row));
  }
  return to_text(out);
}

std::string render_list_csv(const Listing& listing) {
  std::vector<std::string> head{"id", "name"};
  if (!listing.entries.empty()) {
    for (const ListedFact& fact : listing.entries.front().facts) {
      head.push_back(fact.key);
    }
  }
  std::string out = csv_line(head);
  for (const ListedEntry& entry : listing.entries) {
    std::vector<std::string> row{entry.id, entry.name};
    for (const ListedFact& fact : entry.facts) {
      row.push_back(fact.number ? shortest(*fact.number) : fact.text);
    }
    out += csv_line(row);
  }
  return out;
}

std::string render_show_text(const Details& details, TextStyle style) {
  std::string out =
      paint(Ink::bold, printable(details.name), style) +
      paint(Ink::dim, fmt::format("  {} {}", details.kind, printable(details.id)), style) + "\n";
  const auto line = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) {
      out += hanging("  " + pad_right(label, 9), printable(text));
    }
  };
  line("aliases", joined(details.aliases));
  line("file", details.path);
  line("note", details.note);
  Footnotes footnotes;
  std::vector<std::vector<std::string>> rows;
  for (const ResolvedValue& value : details.values) {
    rows.push_back({printable(short_key(details, value.key)), printable(value.text),
                    provenance(value, footnotes)});
  }
  out += "\n" + table({{"key"}, {"value"}, {"source"}}, rows, style);
  const std::string sources = footnotes.text();
  return sources.empty() ? out : out + "\n" + sources;
}

std::string render_show_json(const Details& details, std::string_view version) {
  Json out{{"schema", "clustersim.show/1"},
           {"version", version},
           {"kind", details.kind},
           {"id", details.id},
           {"name", details.name}};
  out["aliases"] = details.aliases;
  out["path"] = details.path;
  out["note"] = details.note;
  out["values"] = inputs_json<Json>(details.values);
  return to_text(out);
}

} // namespace clustersim
