#include "spec/lay_lists.hpp"

#include "base/text.hpp"
#include "spec/schemas.hpp"

#include <algorithm>

namespace clustersim {

void lay_attention(Tree& calibration, Tree& replaced, Diagnostics& out) {
  Tree* list = calibration.find("attention");
  Tree* by_kernel = replaced.find("attention");
  if (by_kernel == nullptr || by_kernel->type != TreeType::table || list == nullptr) {
    return; // absent, or a list that replaces the whole
  }
  for (const TreeMember& over : by_kernel->members) {
    std::vector<std::string> kernels;
    bool found = false;
    for (Tree& item : list->items) {
      const Tree* kernel = item.find("kernel");
      kernels.push_back(kernel == nullptr ? "" : kernel->string);
      if (kernels.back() == over.key && over.value.type == TreeType::table) {
        merge(item, over.value);
        found = true;
      }
    }
    if (!found) {
      const bool known = std::find(kernels.begin(), kernels.end(), over.key) != kernels.end();
      const std::string shown = printable(over.key.substr(0, 64));
      out.add(diagnose(over.key_place,
                       known ? "'" + shown + "' is a table"
                             : "no attention kernel '" + shown + "' in this calibration",
                       "[calibration.attention.KERNEL] with forward, backward, start or wave",
                       known ? "" : nearest_name(shown, kernels).value_or("")));
    }
  }
  replaced.erase("attention");
}

namespace {

struct LibraryList {
  std::string_view group, variant, variant_shown, noun, members;
};

/// `group`.library: tables by name and `variant` in place of the whole list.
void lay_libraries(Tree& calibration, Tree& replaced, const LibraryList& kind, Diagnostics& out) {
  Tree* group = calibration.find(kind.group);
  Tree* over = replaced.find(kind.group);
  if (group == nullptr || over == nullptr) {
    return;
  }
  Tree* list = group->find("library");
  const Tree* by_name = over->find("library");
  if (by_name == nullptr || by_name->type != TreeType::table) {
    return; // absent, or a list that replaces the whole
  }
  const std::string expected = "[calibration." + std::string(kind.group) + ".library.NAME." +
                               std::string(kind.variant_shown) + "]";
  for (const TreeMember& name : by_name->members) {
    for (const TreeMember& variant : name.value.members) {
      const auto is_meant = [&](const Tree& item) {
        const Tree* own = item.find("name");
        const Tree* which = item.find(kind.variant);
        return own != nullptr && which != nullptr && own->string == name.key &&
               which->string == variant.key;
      };
      const bool table = list != nullptr && variant.value.type == TreeType::table;
      const auto found = table ? std::find_if(list->items.begin(), list->items.end(), is_meant)
                               : std::vector<Tree>::iterator{};
      if (table && found != list->items.end()) {
        merge(*found, variant.value);
      } else {
        out.add(diagnose(variant.key_place,
                         "no " + std::string(kind.noun) + " '" + printable(name.key.substr(0, 64)) +
                             "' at '" + printable(variant.key.substr(0, 64)) +
                             "' in this calibration",
                         expected + " with " + std::string(kind.members)));
      }
    }
    if (name.value.type != TreeType::table) {
      out.add(diagnose(name.key_place, "'" + printable(name.key.substr(0, 64)) + "' is no table",
                       expected));
    }
  }
  over->erase("library");
}

} // namespace

void lay_libraries(Tree& calibration, Tree& replaced, Diagnostics& out) {
  constexpr LibraryList gemm{"gemm", "precision", "PRECISION", "GEMM library",
                             "unit, sustained, burst, start or cast"};
  constexpr LibraryList memory{"memory", "class", "CLASS", "library of memory-bound kernels",
                               "fraction, unit_bytes, resident, start or floor"};
  lay_libraries(calibration, replaced, gemm, out);
  lay_libraries(calibration, replaced, memory, out);
}

} // namespace clustersim
