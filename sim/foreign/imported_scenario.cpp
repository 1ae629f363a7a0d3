#include "foreign/imported_scenario.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim {

void ConfigText::put(const std::string& section, const std::string& key, std::string value) {
  auto found = std::ranges::find(sections_, section, &Section::first);
  if (found == sections_.end()) {
    sections_.push_back({section, {}});
    found = std::prev(sections_.end());
  }
  found->second.emplace_back(key, std::move(value));
}

void ConfigText::set(const std::string& section, const std::string& key, std::int64_t value) {
  put(section, key, std::to_string(value));
}
void ConfigText::set(const std::string& section, const std::string& key, bool value) {
  put(section, key, value ? "true" : "false");
}
void ConfigText::set(const std::string& section, const std::string& key, const std::string& word) {
  put(section, key, "\"" + word + "\"");
}
void ConfigText::set(const std::string& section, const std::string& key,
                     const std::vector<std::int64_t>& numbers) {
  put(section, key, fmt::format("[{}]", fmt::join(numbers, ", ")));
}

std::string ConfigText::text() const {
  std::string out = fmt::format("schema = 1\ntitle  = \"{}\"\n", title_);
  for (const auto& [name, keys] : sections_) {
    out += fmt::format("\n[{}]\n", name);
    for (const auto& [key, value] : keys)
      out += fmt::format("{:<18} = {}\n", key, value);
  }
  return out;
}

} // namespace clustersim
