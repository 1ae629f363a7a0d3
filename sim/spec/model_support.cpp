#include "spec/model_support.hpp"

namespace clustersim {

std::vector<std::string> untimed_features(const Transformer& m) {
  struct Feature {
    bool present;
    const char* name;
  };
  const Feature features[] = {
      {m.tower_parameters > 0, "parts beside the language model"},
  };
  std::vector<std::string> names;
  for (const Feature& feature : features) {
    if (feature.present) {
      names.emplace_back(feature.name);
    }
  }
  return names;
}

} // namespace clustersim
