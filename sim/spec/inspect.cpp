#include "spec/inspect.hpp"

#include "base/text.hpp"
#include "spec/objects.hpp"
#include "spec/toml_text.hpp"

#include <array>
#include <filesystem>

namespace clustersim {
namespace {

/// The table that only files of one kind have at their top.
struct KindMark {
  const char* table;
  Kind kind;
};
constexpr std::array marks{KindMark{"compute", Kind::chip},     KindMark{"node", Kind::node},
                           KindMark{"fabric", Kind::fabric},    KindMark{"link", Kind::link},
                           KindMark{"stack", Kind::stack},      KindMark{"kernel", Kind::recipe},
                           KindMark{"update", Kind::optimizer}, KindMark{"gemm", Kind::calibration},
                           KindMark{"model", Kind::transformer}};

std::optional<Kind> kind_of(const Tree& root) {
  // A scenario says where and how to train; a transformer file has a [model] alone.
  for (const char* table : {"cluster", "training", "plan"}) {
    if (root.find(table) != nullptr) {
      return std::nullopt;
    }
  }
  for (const KindMark& mark : marks) {
    if (root.find(mark.table) != nullptr) {
      return mark.kind;
    }
  }
  return std::nullopt;
}

} // namespace

void read_entry(Loading& loading, Kind kind, const Name& name) {
  switch (kind) {
  case Kind::chip:
    static_cast<void>(load(loading, name, Chip{}));
    break;
  case Kind::transformer:
    static_cast<void>(load(loading, name, Transformer{}));
    break;
  case Kind::node:
    static_cast<void>(load(loading, name, Node{}));
    break;
  case Kind::fabric:
    static_cast<void>(load(loading, name, Fabric{}));
    break;
  case Kind::link:
    static_cast<void>(load(loading, name, Link{}));
    break;
  case Kind::stack:
    static_cast<void>(load(loading, name, Stack{}));
    break;
  case Kind::recipe:
    static_cast<void>(load(loading, name, FusionRecipe{}));
    break;
  case Kind::optimizer:
    static_cast<void>(load(loading, name, Optimizer{}));
    break;
  case Kind::calibration:
    static_cast<void>(load_calibration(loading, name, nullptr));
    break;
  }
}

std::optional<Kind> check_entry_file(const std::string& path, const Catalogue& catalogue,
                                     Diagnostics& out) {
  const auto bytes = read_text_file(path, out);
  const auto root =
      bytes ? parse_input(make_source_text(path, *bytes, Origin::catalogue), out) : std::nullopt;
  const auto kind = root ? kind_of(*root) : std::nullopt;
  if (!kind) {
    return std::nullopt;
  }
  // Under its own id, so that what it refers to is found as usual and the file itself comes first.
  const Tree* named = root->find("id");
  const std::string id = canonical_id(named != nullptr && named->type == TreeType::string
                                          ? named->string
                                          : std::filesystem::path(path).stem().string());
  Loading loading{catalogue, out};
  loading.definitions.emplace(ObjectKey{*kind, id}, *root);
  read_entry(loading, *kind, {id, named != nullptr ? named->place : root->place});
  return kind;
}

std::vector<ResolvedValue> entry_values(const Catalogue& catalogue, Kind kind,
                                        const std::string& id, Diagnostics& out) {
  Loading loading{catalogue, out};
  read_entry(loading, kind, {id, {}});
  return loading.values;
}

} // namespace clustersim
