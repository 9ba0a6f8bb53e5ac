// Reads a Hugging Face `config.json` (arithmetic.md, section 3: what a missing key means).
#include <fmt/format.h>

#include "program/check.h"
#include "program/config_json.h"
#include "program/config_keys.h"
#include "program/config_rope.h"
#include "program/model_spec.h"
#include "program/spec_fault.h"

namespace logos {
namespace {

constexpr std::int64_t kMistralKeyHeads = 8;
constexpr std::int64_t kQwenKeyHeads = 32;
constexpr std::int64_t kQwen3HeadColumns = 128;
constexpr std::int64_t kDefaultWindow = 4096;  // Mistral; the Qwens where their switch is on
constexpr std::int64_t kMaxWindowLayers = 28;  // the Qwens
constexpr double kDefaultEpsilon = 1e-6;       // all four
constexpr std::string_view kHeadTensor = "lm_head.weight";

/// The model class of a family, as `architectures` names it.
std::string_view class_of(Family family) {
  switch (family) {
    case Family::kLlama:
      return "LlamaForCausalLM";
    case Family::kMistral:
      return "MistralForCausalLM";
    case Family::kQwen2:
      return "Qwen2ForCausalLM";
    case Family::kQwen3:
      return "Qwen3ForCausalLM";
  }
  CHECK_UNREACHABLE();
}

class ConfigReader {
 public:
  explicit ConfigReader(ConfigObject config) : config_(std::move(config)) {}

  ModelReading read(std::optional<bool> has_head_tensor) {
    family_ = family();
    check_architectures();
    check_keys(config_, family_, &reading_.remarks);
    check_activation();
    sizes();
    epsilon();
    spec_.rotary = read_rotary(config_, &reading_.remarks);
    spec_.window = window();
    spec_.qkv_bias = family_ == Family::kQwen2;
    spec_.qk_norm = family_ == Family::kQwen3;
    tying(has_head_tensor);
    if (const auto positions = config_.integer("max_position_embeddings")) {
      if (*positions < 1) {
        config_.fail("max_position_embeddings", "out of bounds", fmt::format("{}", *positions),
                     "1 or more");
      }
      reading_.trained_positions = *positions;
    }
    return std::move(reading_);
  }

 private:
  void say(std::string remark) { reading_.remarks.push_back(std::move(remark)); }

  Family family() {
    const auto type = config_.string("model_type");
    if (!type) config_.fail("model_type", "missing", "nothing", "llama, mistral, qwen2 or qwen3");
    if (*type == "llama") return Family::kLlama;
    if (*type == "mistral") return Family::kMistral;
    if (*type == "qwen2") return Family::kQwen2;
    if (*type == "qwen3") return Family::kQwen3;
    config_.fail("model_type", "a model that is not supported", shown(nlohmann::json(*type)),
                 "llama, mistral, qwen2 or qwen3");
  }

  /// `architectures` names the model class, `model_type` the family: the two say one thing, or
  /// nobody knows which of them the weights are of.
  void check_architectures() const {
    constexpr std::string_view kKey = "architectures";
    if (!config_.has(kKey)) return;
    const nlohmann::json& names = *config_.find(kKey);
    if (!names.is_array()) config_.fail_type(kKey, "a list of names of model classes");
    for (const nlohmann::json& name : names) {
      if (!name.is_string()) config_.fail_type(kKey, "a list of names of model classes");
      const std::string& text = name.get_ref<const std::string&>();
      const std::string_view wanted = class_of(family_);
      // Conversions of the first Llama wrote LLaMA.
      if (text == wanted || (family_ == Family::kLlama && text == "LLaMAForCausalLM")) continue;
      config_.fail(kKey,
                   fmt::format("contradicts model_type {}", shown(*config_.find("model_type"))),
                   shown(name), fmt::format("\"{}\"", wanted));
    }
  }

  bool is_qwen() const { return family_ == Family::kQwen2 || family_ == Family::kQwen3; }

  void check_activation() {
    const auto act = config_.string("hidden_act");
    if (!act) {
      say("hidden_act is missing: silu");
    } else if (*act != "silu" && *act != "swish") {  // two names of one function
      config_.fail("hidden_act", "an activation that is not supported", shown(nlohmann::json(*act)),
                   "silu");
    }
  }

  /// A size that every config states.
  std::int64_t size(std::string_view key) const {
    const auto value = config_.integer(key);
    if (!value) config_.fail(key, "missing", "nothing", "a whole number from 1");
    check_positive(key, *value);
    return *value;
  }

  void check_positive(std::string_view key, std::int64_t value) const {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    if (value >= 1 && value <= kMost) return;
    config_.fail(key, "out of bounds", fmt::format("{}", value), fmt::format("1 to {}", kMost));
  }

  void sizes() {
    spec_.columns = size("hidden_size");
    spec_.hidden_columns = size("intermediate_size");
    spec_.layers = size("num_hidden_layers");
    spec_.query_heads = size("num_attention_heads");
    spec_.vocabulary = size("vocab_size");
    spec_.key_heads = key_heads();
    spec_.head_columns = head_columns();
  }

  /// Null means as many as query heads in every model class; a missing key is the class's default.
  std::int64_t key_heads() {
    constexpr std::string_view kKey = "num_key_value_heads";
    const auto stated = config_.integer(kKey);
    if (stated) {
      check_positive(kKey, *stated);
      if (spec_.query_heads % *stated != 0) {
        config_.fail(kKey, "does not divide num_attention_heads", fmt::format("{}", *stated),
                     fmt::format("a divisor of {}", spec_.query_heads));
      }
      return *stated;
    }
    const bool missing = config_.find(kKey) == nullptr;
    std::int64_t heads = spec_.query_heads;
    if (missing && family_ == Family::kMistral) heads = kMistralKeyHeads;
    if (missing && is_qwen()) heads = kQwenKeyHeads;
    say(fmt::format("{} is {}: {}", kKey, missing ? "missing" : "null", heads));
    if (spec_.query_heads % heads != 0) {
      config_.fail(kKey, "missing, and its default does not divide num_attention_heads",
                   fmt::format("{}", heads), fmt::format("a divisor of {}", spec_.query_heads));
    }
    return heads;
  }

  std::int64_t head_columns() {
    constexpr std::string_view kKey = "head_dim";
    if (const auto stated = config_.integer(kKey)) {
      check_positive(kKey, *stated);
      return *stated;
    }
    if (family_ == Family::kQwen3) {
      say(fmt::format("head_dim is missing: {}", kQwen3HeadColumns));
      return kQwen3HeadColumns;
    }
    if (spec_.columns % spec_.query_heads != 0) {
      config_.fail(kKey, "missing, and hidden_size is not divisible by num_attention_heads",
                   fmt::format("{} / {}", spec_.columns, spec_.query_heads), "head_dim");
    }
    say(fmt::format("head_dim is missing: hidden_size / num_attention_heads = {}",
                    spec_.columns / spec_.query_heads));
    return spec_.columns / spec_.query_heads;
  }

  void epsilon() {
    const auto stated = config_.number("rms_norm_eps");
    if (!stated) say("rms_norm_eps is missing: 0.000001");
    spec_.norm_epsilon = stated.value_or(kDefaultEpsilon);
    if (spec_.norm_epsilon >= 0x1p-40 && spec_.norm_epsilon <= 0x1p40) return;
    config_.fail("rms_norm_eps", "out of bounds", shown(*config_.find("rms_norm_eps")),
                 "2^-40 to 2^40");
  }

  /// The window that would hold where windowed attention is on; null where the config has none.
  std::optional<std::int64_t> stated_window() {
    constexpr std::string_view kKey = "sliding_window";
    const auto stated = config_.integer(kKey);
    if (stated) check_positive(kKey, *stated);
    const bool has_default = family_ == Family::kMistral || is_qwen();
    if (stated || config_.find(kKey) != nullptr || !has_default) return stated;
    say(fmt::format("{} is missing: {}", kKey, kDefaultWindow));
    return kDefaultWindow;
  }

  std::optional<std::int64_t> window() {
    const auto layers = windowed_layers();  // null: the config has no layer_types
    const auto use = config_.flag("use_sliding_window");
    // The switch that is off wins over a window's number; the Qwens' is off where it is missing.
    if (!use.value_or(!is_qwen())) {
      if (layers.value_or(false)) {
        config_.fail("layer_types", "windowed attention with its switch off", "sliding_attention",
                     "use_sliding_window true, or full_attention");
      }
      return std::nullopt;
    }
    if (family_ == Family::kLlama && !layers.value_or(false)) {
      if (config_.has("sliding_window")) {
        config_.fail("sliding_window", "a Llama has no window",
                     shown(*config_.find("sliding_window")), "null");
      }
      return std::nullopt;
    }
    const auto window = stated_window();
    if (layers) return window_by_layers(*layers, window);
    if (!window || !is_qwen()) return window;
    return window_by_count(window);
  }

  /// `layer_types`: all windowed (true), none (false); a mixture is refused.
  std::optional<bool> windowed_layers() const {
    constexpr std::string_view kKey = "layer_types";
    if (!config_.has(kKey)) return std::nullopt;
    const nlohmann::json& types = *config_.find(kKey);
    if (!types.is_array()) config_.fail_type(kKey, "a list of the layers' kinds of attention");
    if (static_cast<std::int64_t>(types.size()) != spec_.layers) {
      config_.fail(kKey, "another count than num_hidden_layers", fmt::format("{}", types.size()),
                   fmt::format("{}", spec_.layers));
    }
    std::int64_t windowed = 0;
    for (const nlohmann::json& type : types) {
      if (type != "full_attention" && type != "sliding_attention") {
        config_.fail(kKey, "an attention that is not supported", shown(type),
                     "full_attention or sliding_attention");
      }
      if (type == "sliding_attention") ++windowed;
    }
    if (windowed != 0 && windowed != spec_.layers) {
      config_.fail(kKey, "a mixture of windowed and full attention is not supported",
                   fmt::format("{} of {} layers windowed", windowed, spec_.layers),
                   "all layers alike");
    }
    return windowed != 0;
  }

  std::optional<std::int64_t> window_by_layers(bool windowed,
                                               std::optional<std::int64_t> window) const {
    if (windowed && !window) {
      config_.fail("sliding_window", "missing, where layer_types says sliding_attention", "nothing",
                   "a whole number from 1");
    }
    if (windowed) return window;
    // The Mistral class reads the window alone, so the two say different things.
    if (family_ == Family::kMistral && window) {
      config_.fail("layer_types", "contradicts sliding_window", "full_attention",
                   fmt::format("sliding_attention, or sliding_window null for {}", *window));
    }
    return std::nullopt;
  }

  /// The Qwens: layers from max_window_layers (from 0) on are windowed.
  std::optional<std::int64_t> window_by_count(std::optional<std::int64_t> window) {
    constexpr std::string_view kKey = "max_window_layers";
    const auto stated = config_.integer(kKey);
    if (!stated) say(fmt::format("{} is missing: {}", kKey, kMaxWindowLayers));
    const std::int64_t first = stated.value_or(kMaxWindowLayers);
    if (first <= 0) return window;
    if (first >= spec_.layers) return std::nullopt;
    config_.fail(kKey, "a mixture of windowed and full attention is not supported",
                 fmt::format("{} of {} layers windowed", spec_.layers - first, spec_.layers),
                 "all layers alike");
  }

  void tying(std::optional<bool> has_head_tensor) {
    const auto flag = config_.flag("tie_word_embeddings");
    spec_.tied_head = flag.value_or(false);
    if (spec_.tied_head && has_head_tensor.value_or(false)) {
      say(
          fmt::format("tie_word_embeddings is true: the head is the embedding, the file's {} is "
                      "unused",
                      kHeadTensor));
    }
    if (!spec_.tied_head && !has_head_tensor.value_or(true)) {
      say(fmt::format("the checkpoint has no {}: the head is the embedding", kHeadTensor));
      spec_.tied_head = true;
      return;
    }
    if (!flag && !has_head_tensor) {
      say("tie_word_embeddings is missing: the head is a matrix of its own");
    }
  }

  ConfigObject config_;
  Family family_ = Family::kLlama;
  ModelReading reading_;
  ModelSpec& spec_ = reading_.spec;
};

/// The config's key behind a fact of the spec.
std::string_view key_of(const SpecFault& fault, const ConfigObject& config) {
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"layers", "num_hidden_layers"},
      {"columns", "hidden_size"},
      {"query_heads", "num_attention_heads"},
      {"key_heads", "num_key_value_heads"},
      {"head_columns", "head_dim"},
      {"hidden_columns", "intermediate_size"},
      {"vocabulary", "vocab_size"},
      {"norm_epsilon", "rms_norm_eps"},
      {"window", "sliding_window"}};
  for (const auto& [fact, key] : kKeys) {
    if (fact == fault.key) return key;
  }
  CHECK(fault.key == "rotary");
  if (config.has("rope_parameters")) return "rope_parameters";
  return config.has("rope_scaling") && !fault.what.starts_with("rotary base") ? "rope_scaling"
                                                                              : "rope_theta";
}

}  // namespace

ModelReading read_config(std::string_view json, std::string_view where,
                         std::optional<bool> has_head_tensor) {
  const nlohmann::json config = parse_config(json, where);
  const ConfigObject top(&config, std::string(where), "");
  ModelReading reading = ConfigReader(top).read(has_head_tensor);
  if (const auto fault = find_fault(reading.spec)) {
    top.fail(key_of(*fault, top), fault->what, fault->got, fault->want);
  }
  return reading;
}

}  // namespace logos
