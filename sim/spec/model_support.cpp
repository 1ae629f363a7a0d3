#include "spec/model_support.hpp"

namespace clustersim {

std::vector<std::string> untimed_features(const Transformer& m, std::int64_t sequence) {
  struct Feature {
    bool present;
    const char* name;
  };
  const std::int64_t usual_norms = m.parallel_block ? 1 : 2;
  const Feature features[] = {
      {m.architecture == Architecture::encoder_decoder, "an encoder with a decoder"},
      {m.mtp_layers > 0, "multi-token prediction"},
      {m.window > 0 && m.window < sequence, "sliding-window attention"},
      {m.attention_sinks, "attention sinks"},
      {m.layer_norms != usual_norms, "more or fewer norms per layer than usual"},
      {!m.norm_weight, "norms without weights"},
      {m.embedding_width > 0 && m.embedding_width != m.hidden,
       "an embedding narrower than the model"},
      {m.position == PositionKind::relative, "relative position biases"},
      {m.head_bias, "a bias on the vocabulary head"},
      {m.sequence_classes > 0, "a classifier on the pooler"},
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
