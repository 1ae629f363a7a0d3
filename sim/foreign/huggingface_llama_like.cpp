// Dense decoders that name their sizes as Llama does. What a key is when the file lacks it is the
// default of the library's configuration class for that type.

#include "foreign/huggingface_families.hpp"

namespace clustersim {
namespace {

void llama(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  m.set("mlp_bias", c.flag("mlp_bias"));
  map_decoder_head(c, m, ending);
}

/// Also Phi 3.
void mistral(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_window(c, m, window_of(c), {});
  c.use("sliding_window");
  map_decoder_head(c, m, ending);
}

/// With windows on, they hold above `max_window_layers`.
void qwen_window(JsonConfig& c, ModelKeys& m) {
  const bool on = c.flag("use_sliding_window") && c.has("sliding_window");
  c.use("sliding_window");
  const std::int64_t full = on ? c.count("max_window_layers") : 0;
  c.use("max_window_layers");
  map_window(c, m, window_of(c, on),
             layers_where(c.count("num_hidden_layers"), [&](auto i) { return i < full; }));
}

void qwen2(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  m.set("attention_bias", true);
  c.infer("attention_bias = true: the type has biases on q, k and v");
  qwen_window(c, m);
  map_decoder_head(c, m, ending);
}

void qwen3(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  m.set("qk_norm", "head");
  c.infer("qk_norm = head: the type has norms of queries and keys");
  qwen_window(c, m);
  map_decoder_head(c, m, ending);
}

void gemma(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  map_decoder_head(c, m, ending);
}

void gemma2(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m, {.activation_key = "hidden_activation"});
  map_attention_biases(c, m);
  m.set("layer_norms", std::int64_t{4});
  c.infer("layer_norms = 4: so the type is built");
  map_window(c, m, window_of(c),
             layers_where(c.count("num_hidden_layers"), [](auto i) { return i % 2 == 1; }));
  map_decoder_head(c, m, ending);
}

void gemma3_body(JsonConfig& c, ModelKeys& m) {
  map_llama(c, m, {.activation_key = "hidden_activation"});
  map_attention_biases(c, m);
  m.set("layer_norms", std::int64_t{4});
  m.set("qk_norm", "head");
  c.infer("layer_norms = 4 and qk_norm = head: so the type is built");
  const char* older = "_sliding_window_pattern";
  const std::int64_t every = c.count(c.has(older) ? older : "sliding_window_pattern");
  map_window(c, m, window_of(c), layers_where(c.count("num_hidden_layers"), [&](auto i) {
               return every > 0 && (i + 1) % every == 0;
             }));
}

void gemma3_text(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  gemma3_body(c, m);
  map_decoder_head(c, m, ending);
}

constexpr const char* gemma3_defaults = R"({
  "vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
  "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 131072,
  "tie_word_embeddings": true, "attention_bias": false, "sliding_window": 4096,
  "sliding_window_pattern": 6})";

constexpr const char* siglip_defaults = R"({
  "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_channels": 3,
  "image_size": 224, "patch_size": 16, "vision_use_head": true})";

/// SigLIP (arXiv 2303.15343): patches and their positions, layers of an encoder with biases, a
/// norm, and unless switched off a head that pools by attention; then Gemma 3's way into the text.
std::int64_t vision_tower(JsonConfig& v, std::int64_t text_hidden) {
  // Products of all of them stay below 2^63.
  const auto size = [&](const char* key, std::int64_t most) {
    const std::int64_t value = v.count(key);
    if (value > most) v.refuse("the vision tower is beyond all size", key);
    return value > most ? 1 : value;
  };
  const std::int64_t h = size("hidden_size", 100000), f = size("intermediate_size", 100000);
  const std::int64_t layers = size("num_hidden_layers", 10000), patch = size("patch_size", 1000);
  const std::int64_t side = patch > 0 ? size("image_size", 100000) / patch : 0;
  const std::int64_t attention = 4 * (h * h + h), norm = 2 * h;
  const std::int64_t mlp = h * f + f + f * h + h;
  const std::int64_t table = size("num_channels", 1000) * patch * patch * h + h + side * side * h;
  const std::int64_t head = v.flag("vision_use_head") ? h + attention + norm + mlp : 0;
  const std::int64_t joint = h * text_hidden + h;
  return table + layers * (attention + 2 * norm + mlp) + norm + head + joint;
}

void gemma3(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const bool flat = c.has("hidden_size") || c.has("num_hidden_layers"); // a text model's own file
  if (flat && !c.has("text_config")) {
    c.assume(gemma3_defaults);
    return gemma3_text(c, m, ending);
  }
  JsonConfig text = c.child("text_config");
  text.assume(gemma3_defaults);
  gemma3_body(text, m);
  map_decoder_head(c, m, ending);
  if (ending == "ForConditionalGeneration" || ending == "Model") {
    JsonConfig vision = c.child("vision_config");
    vision.assume(siglip_defaults);
    m.set("tower_parameters", vision_tower(vision, text.count("hidden_size")));
    c.infer("tower_parameters: the vision tower of vision_config and its way into the text");
    c.take_over(vision, "vision_config");
  }
  c.take_over(text, "text_config");
}

void olmo(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  map_activation(c, m, "hidden_act");
  m.set("gated_mlp", true);
  m.set("norm", "layer");
  m.set("norm_weight", false);
  m.set("position", "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  map_attention_biases(c, m);
  c.infer("norm_weight = false: norms of the type have no weights");
  map_decoder_head(c, m, ending);
}

void olmo2(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  m.set("qk_norm", "width");
  c.infer("qk_norm = width: the type has norms of queries and keys");
  map_decoder_head(c, m, ending);
}

constexpr const char* llama_defaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false})";
constexpr const char* mistral_defaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
  "max_position_embeddings": 131072, "tie_word_embeddings": false, "sliding_window": 4096})";
constexpr const char* qwen2_defaults = R"({
  "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "hidden_act": "silu",
  "max_position_embeddings": 32768, "tie_word_embeddings": false, "use_sliding_window": false,
  "sliding_window": 4096, "max_window_layers": 28})";
constexpr const char* qwen3_defaults = R"({
  "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "hidden_act": "silu",
  "max_position_embeddings": 32768, "tie_word_embeddings": false, "attention_bias": false,
  "use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 28})";
constexpr const char* gemma_defaults = R"({
  "vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28,
  "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256,
  "hidden_act": "gelu_pytorch_tanh", "max_position_embeddings": 8192,
  "tie_word_embeddings": true, "attention_bias": false})";
constexpr const char* gemma2_defaults = R"({
  "vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
  "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 8192,
  "tie_word_embeddings": true, "attention_bias": false, "sliding_window": 4096})";
constexpr const char* phi3_defaults = R"({
  "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
  "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 4096,
  "tie_word_embeddings": false})";
constexpr const char* olmo_defaults = R"({
  "vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "attention_bias": false})";

} // namespace

const std::vector<HuggingFaceFamily>& llama_like_families() {
  constexpr const char* usual = "ForCausalLM";
  static const std::vector<HuggingFaceFamily> table{
      {"llama", {"Llama", "LLaMA"}, usual, llama_defaults, {}, llama},
      {"mistral", {"Mistral"}, usual, mistral_defaults, {}, mistral},
      {"qwen2", {"Qwen2"}, usual, qwen2_defaults, {}, qwen2},
      {"qwen3", {"Qwen3"}, usual, qwen3_defaults, {}, qwen3},
      {"gemma", {"Gemma"}, usual, gemma_defaults, {}, gemma},
      {"gemma2", {"Gemma2"}, usual, gemma2_defaults, {}, gemma2},
      {"gemma3", {"Gemma3"}, "ForConditionalGeneration", "{}", {}, gemma3},
      {"gemma3_text", {"Gemma3"}, usual, gemma3_defaults, {}, gemma3_text},
      {"phi3", {"Phi3"}, usual, phi3_defaults, {}, mistral},
      {"olmo", {"Olmo"}, usual, olmo_defaults, {}, olmo},
      {"olmo2", {"Olmo2"}, usual, olmo_defaults, {}, olmo2},
      {"granite", {"Granite"}, usual, llama_defaults, {}, llama},
  };
  return table;
}

} // namespace clustersim
