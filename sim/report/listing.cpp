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

/// Where a value comes from: the citation, else the place, else how it was chosen.
std::string provenance(const ResolvedValue& value) {
  std::string out = !value.source.empty()  ? value.source
                    : !value.where.empty() ? value.where
                                           : std::string{name_of(value.origin)};
  out += value.date.empty() ? "" : " (" + value.date + ")";
  out += value.fitted.empty() ? "" : fmt::format(" [fitted: {}]", value.fitted);
  return out;
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

} // namespace

std::string render_list_text(const Listing& listing, TextStyle style) {
  std::vector<Column> columns{{"id"}};
  if (!listing.entries.empty()) {
    for (const ListedFact& fact : listing.entries.front().facts) {
      columns.push_back({fact.head, Align::right});
    }
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
    rows.push_back({printable(value.key), printable(value.text),
                    footnotes.mark(provenance(value)) +
                        (value.note.empty() ? "" : " " + printable(value.note))});
  }
  out += "\n" + table({{"key"}, {"value"}, {"source"}}, rows, style);
  return out + "\n" + footnotes.text();
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
