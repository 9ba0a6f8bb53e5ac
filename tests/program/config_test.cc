// config.json: families, defaults, tying, rotation, windows, and every refusal by name.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json base(const std::string& family = "llama") {
  return {{"model_type", family},
          {"hidden_size", 64},
          {"intermediate_size", 172},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 4},
          {"head_dim", 8},
          {"vocab_size", 512},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000.0},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false},
          {"sliding_window", nullptr},
          {"use_sliding_window", nullptr},
          {"max_position_embeddings", 1024}};
}

json without(json config, const char* key) {
  config.erase(key);
  return config;
}

json with_key(json config, const char* key, const json& value) {
  config[key] = value;
  return config;
}

ModelReading read(const json& config, std::optional<bool> has_head = std::nullopt) {
  return read_config(config.dump(), "config.json", has_head);
}

ModelSpec spec_of(const json& config) { return read(config).spec; }

std::string refusal(const json& config) {
  return error_of([&] { read(config); });
}

std::string refusal_of_text(const std::string& text) {
  return error_of([&] { read_config(text, "config.json"); });
}

TEST(Architectures, ThatContradictTheModelTypeAreRefusedNamingBoth) {
  const std::vector<std::pair<std::string, std::string>> classes = {
      {"llama", "LlamaForCausalLM"},
      {"mistral", "MistralForCausalLM"},
      {"qwen2", "Qwen2ForCausalLM"},
      {"qwen3", "Qwen3ForCausalLM"}};
  for (const auto& [type, own] : classes) {
    for (const auto& [other, name] : classes) {
      const json config = with_key(base(type), "architectures", json::array({name}));
      if (type == other) {
        EXPECT_EQ(spec_of(config), spec_of(base(type)));
        continue;
      }
      EXPECT_THAT(refusal(config),
                  HasSubstr(fmt::format("config.json: architectures: contradicts model_type "
                                        "\"{}\"; got \"{}\", want \"{}\"",
                                        type, name, own)));
    }
  }
  for (const char* name : {"Qwen2MoeForCausalLM", "LlamaForSequenceClassification", "", "llama"}) {
    EXPECT_THAT(refusal(with_key(base(), "architectures", json::array({name}))),
                HasSubstr("contradicts model_type \"llama\""));
  }
  EXPECT_THAT(refusal(with_key(base(), "architectures",
                               json::array({"LlamaForCausalLM", "MistralForCausalLM"}))),
              HasSubstr("got \"MistralForCausalLM\""));
}

TEST(Architectures, MayBeLeftOutButNotBeSomethingElse) {
  EXPECT_EQ(spec_of(with_key(base(), "architectures", nullptr)), spec_of(base()));
  EXPECT_EQ(spec_of(with_key(base(), "architectures", json::array())), spec_of(base()));
  for (const json& value : {json("LlamaForCausalLM"), json(7), json::array({7}), json::object()}) {
    EXPECT_THAT(refusal(with_key(base(), "architectures", value)),
                HasSubstr("want a list of names of model classes"));
  }
}

TEST(Config, ReadsALlama) {
  const ModelReading reading = read(base());
  const ModelSpec& spec = reading.spec;
  EXPECT_EQ(spec.columns, 64);
  EXPECT_EQ(spec.hidden_columns, 172);
  EXPECT_EQ(spec.layers, 2);
  EXPECT_EQ(spec.query_heads, 8);
  EXPECT_EQ(spec.key_heads, 4);
  EXPECT_EQ(spec.head_columns, 8);
  EXPECT_EQ(spec.vocabulary, 512);
  EXPECT_EQ(spec.norm_epsilon, 1e-5);
  EXPECT_EQ(spec.rotary, Rotary{});
  EXPECT_EQ(spec.window, std::nullopt);
  EXPECT_FALSE(spec.qkv_bias || spec.qk_norm || spec.tied_head);
  EXPECT_EQ(reading.trained_positions, 1024);
  EXPECT_THAT(reading.remarks, IsEmpty());
}

TEST(Config, DecidesBiasesAndNormsByFamily) {
  EXPECT_TRUE(spec_of(base("qwen2")).qkv_bias);
  EXPECT_FALSE(spec_of(base("qwen2")).qk_norm);
  EXPECT_TRUE(spec_of(base("qwen3")).qk_norm);
  EXPECT_FALSE(spec_of(base("qwen3")).qkv_bias);
  EXPECT_EQ(spec_of(base("mistral")), spec_of(base("llama")));
}

TEST(Config, RefusesOtherModelTypesByName) {
  EXPECT_EQ(refusal(base("gemma2")),
            "config.json: model_type: a model that is not supported; got \"gemma2\", want llama, "
            "mistral, qwen2 or qwen3");
  EXPECT_EQ(refusal(without(base(), "model_type")),
            "config.json: model_type: missing; got nothing, want llama, mistral, qwen2 or qwen3");
}

TEST(Config, ReadsPublishedConfigsAsTheirPresets) {
  // The keys as their makers published them.
  const char* llama = R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64, "hidden_act": "silu",
    "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
    "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                     "original_max_position_embeddings": 8192, "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
    "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})";
  const char* qwen2 = R"({
    "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
    "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02,
    "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24,
    "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
    "transformers_version": "4.40.1", "use_cache": true, "use_mrope": false,
    "use_sliding_window": false, "vocab_size": 151936})";
  const char* qwen3 = R"({
    "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu",
    "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
    "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3",
    "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null,
    "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.51.0",
    "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})";
  const char* mistral = R"({
    "architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
    "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
    "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.34.0.dev0",
    "use_cache": true, "vocab_size": 32000})";
  EXPECT_EQ(read_config(llama, "c").spec, *preset("llama-3.2-1b"));
  EXPECT_THAT(read_config(llama, "c").remarks, IsEmpty());
  EXPECT_EQ(read_config(qwen2, "c").spec, *preset("qwen2.5-0.5b"));
  EXPECT_EQ(read_config(qwen3, "c").spec, *preset("qwen3-0.6b"));
  EXPECT_THAT(read_config(qwen3, "c").remarks, IsEmpty());
  EXPECT_EQ(read_config(mistral, "c").spec, *preset("mistral-7b-v0.1"));
}

// ---- rotation

json llama3(const char* kind_key) {
  return {{kind_key, "llama3"},
          {"factor", 8.0},
          {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0},
          {"original_max_position_embeddings", 8192}};
}

TEST(ConfigRotation, ReadsTheKindUnderEitherNameOrBoth) {
  const Rotary expected = {Rotary::Kind::kLlama3, 10000, 8, 1, 4, 8192};
  EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", llama3("type"))).rotary, expected);
  EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", llama3("rope_type"))).rotary, expected);
  json both = llama3("type");
  both["rope_type"] = "llama3";
  EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", both)).rotary, expected);
  const Rotary linear = {Rotary::Kind::kLinear, 10000, 2.5, 1, 4, 0};
  for (const char* key : {"type", "rope_type"}) {
    const json block = {{key, "linear"}, {"factor", 2.5}};
    EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", block)).rotary, linear);
  }
}

TEST(ConfigRotation, RefusesKindsThatContradict) {
  json both = llama3("type");
  both["rope_type"] = "linear";
  EXPECT_EQ(refusal(with_key(base(), "rope_scaling", both)),
            "config.json: rope_scaling.rope_type: rope_type and type contradict; got rope_type "
            "\"linear\", want type \"llama3\"");
}

TEST(ConfigRotation, RefusesOtherKindsByName) {
  for (const char* kind : {"yarn", "dynamic", "longrope", "su", "mrope", "proportional", ""}) {
    const json block = {{"type", kind}, {"factor", 4.0}};
    EXPECT_EQ(refusal(with_key(base(), "rope_scaling", block)),
              std::string("config.json: rope_scaling.type: a rotation that is not supported; got "
                          "\"") +
                  kind + "\", want default, linear or llama3");
  }
}

TEST(ConfigRotation, TakesNullAsPlainAndSaysWhatAnEmptyBlockIs) {
  EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", nullptr)).rotary, Rotary{});
  const ModelReading empty = read(with_key(base(), "rope_scaling", json::object()));
  EXPECT_EQ(empty.spec.rotary, Rotary{});
  EXPECT_THAT(empty.remarks, Contains("rope_scaling is empty: plain rotation"));
  EXPECT_EQ(spec_of(with_key(base(), "rope_scaling", {{"rope_type", "default"}})).rotary, Rotary{});
}

TEST(ConfigRotation, RefusesABlockThatItWouldReadInPart) {
  EXPECT_EQ(refusal(with_key(base(), "rope_scaling", {{"factor", 4.0}})),
            "config.json: rope_scaling.factor: not a key of the kind default; got 4.0, want null, "
            "or no such key");
  json block = llama3("rope_type");
  block["attention_factor"] = 1.2;
  EXPECT_THAT(refusal(with_key(base(), "rope_scaling", block)),
              HasSubstr("rope_scaling.attention_factor: not a key of the kind llama3"));
  for (const char* key :
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    EXPECT_EQ(refusal(with_key(base(), "rope_scaling", without(llama3("type"), key))),
              std::string("config.json: rope_scaling.") + key +
                  ": missing; got nothing, want the number that llama3 takes");
    EXPECT_THAT(refusal(with_key(base(), "rope_scaling", with_key(llama3("type"), key, "8"))),
                HasSubstr(std::string("rope_scaling.") + key + ": another value"));
    EXPECT_THAT(refusal(with_key(base(), "rope_scaling", with_key(llama3("type"), key, 0))),
                HasSubstr("config.json: rope_scaling: rotary"));
  }
  EXPECT_THAT(refusal(with_key(base(), "rope_scaling", "linear")),
              HasSubstr("rope_scaling: another value than this key takes; got \"linear\", want an "
                        "object or null"));
}

TEST(ConfigRotation, ReadsTheNewerRopeParameters) {
  const json top = without(base(), "rope_theta");
  json block = llama3("rope_type");
  block["rope_theta"] = 500000.0;
  EXPECT_EQ(spec_of(with_key(top, "rope_parameters", block)).rotary,
            (Rotary{Rotary::Kind::kLlama3, 500000, 8, 1, 4, 8192}));
  const json plain = {{"rope_type", "default"}, {"rope_theta", 1000000}};
  const ModelReading reading = read(with_key(top, "rope_parameters", plain));
  EXPECT_EQ(reading.spec.rotary.base, 1000000);
  EXPECT_THAT(reading.remarks, IsEmpty());
  // Beside the older keys: equal, or refused.
  EXPECT_EQ(spec_of(with_key(with_key(base(), "rope_scaling", llama3("type")), "rope_parameters",
                             with_key(llama3("rope_type"), "rope_theta", 10000)))
                .rotary,
            (Rotary{Rotary::Kind::kLlama3, 10000, 8, 1, 4, 8192}));
  EXPECT_EQ(refusal(with_key(base(), "rope_parameters", plain)),
            "config.json: rope_parameters.rope_theta: contradicts the other rope_theta; got "
            "1000000, want 10000");
  EXPECT_THAT(refusal(with_key(with_key(base(), "rope_scaling", llama3("type")), "rope_parameters",
                               {{"rope_type", "linear"}, {"factor", 8.0}})),
              HasSubstr("rope_parameters and rope_scaling contradict"));
}

TEST(ConfigRotation, RefusesAMixtureOfRotationsByName) {
  const json mixed = {{"full_attention", {{"rope_type", "default"}}},
                      {"sliding_attention", {{"rope_type", "default"}}}};
  EXPECT_THAT(refusal(with_key(base(), "rope_parameters", mixed)),
              HasSubstr("config.json: rope_parameters.full_attention: not a key"));
}

TEST(ConfigRotation, SaysADefaultTheta) {
  const ModelReading reading = read(without(base(), "rope_theta"));
  EXPECT_EQ(reading.spec.rotary.base, 10000);
  EXPECT_THAT(reading.remarks, Contains("rope_theta is missing: 10000"));
  for (const json& theta : {json(0), json(-1), json(0.5), json(1e300)}) {
    EXPECT_THAT(refusal(with_key(base(), "rope_theta", theta)),
                HasSubstr("config.json: rope_theta: rotary base"));
  }
}

// ---- heads

TEST(ConfigHeads, TakesHeadDimNullAbsentOrEqualAlike) {
  const ModelSpec expected = spec_of(base());
  EXPECT_EQ(spec_of(without(base(), "head_dim")), expected);
  EXPECT_EQ(spec_of(with_key(base(), "head_dim", nullptr)), expected);
  EXPECT_THAT(read(without(base(), "head_dim")).remarks,
              Contains("head_dim is missing: hidden_size / num_attention_heads = 8"));
  EXPECT_EQ(spec_of(with_key(base(), "head_dim", 16)).head_columns, 16);
  EXPECT_EQ(spec_of(with_key(base(), "head_dim", 4)).head_columns, 4);
  EXPECT_EQ(spec_of(without(base("qwen3"), "head_dim")).head_columns, 128);
  EXPECT_EQ(refusal(with_key(without(base(), "head_dim"), "hidden_size", 65)),
            "config.json: head_dim: missing, and hidden_size is not divisible by "
            "num_attention_heads; got 65 / 8, want head_dim");
  EXPECT_NO_THROW(spec_of(with_key(base(), "hidden_size", 65)));
  EXPECT_THAT(refusal(with_key(base(), "head_dim", 7)), HasSubstr("cannot be rotated in pairs"));
}

TEST(ConfigHeads, TakesMissingKeyHeadsByFamily) {
  EXPECT_EQ(spec_of(without(base(), "num_key_value_heads")).key_heads, 8);
  EXPECT_EQ(spec_of(with_key(base(), "num_key_value_heads", nullptr)).key_heads, 8);
  EXPECT_THAT(read(without(base(), "num_key_value_heads")).remarks,
              Contains("num_key_value_heads is missing: 8"));
  const json mistral = with_key(base("mistral"), "num_attention_heads", 16);
  EXPECT_EQ(spec_of(without(mistral, "num_key_value_heads")).key_heads, 8);
  EXPECT_EQ(spec_of(with_key(mistral, "num_key_value_heads", nullptr)).key_heads, 16);
  const json qwen = with_key(base("qwen2"), "num_attention_heads", 32);
  EXPECT_EQ(spec_of(without(qwen, "num_key_value_heads")).key_heads, 32);
  EXPECT_EQ(refusal(without(base("qwen2"), "num_key_value_heads")),
            "config.json: num_key_value_heads: missing, and its default does not divide "
            "num_attention_heads; got 32, want a divisor of 8");
  EXPECT_EQ(refusal(with_key(base(), "num_key_value_heads", 3)),
            "config.json: num_key_value_heads: does not divide num_attention_heads; got 3, want a "
            "divisor of 8");
  EXPECT_THAT(refusal(with_key(base(), "num_key_value_heads", 0)), HasSubstr("out of bounds"));
}

// ---- epsilon

TEST(ConfigEpsilon, IsTheNumberThatTheDecimalReadsAs) {
  const std::string text = base().dump();
  const auto identity = [&](const char* decimal) {
    json config = base();
    config["rms_norm_eps"] = "EPS";
    const ModelSpec spec = read_config(with(config.dump(), "\"EPS\"", decimal), "c").spec;
    return written(spec, Cut::parse("decode:4")).identity.sha256;
  };
  EXPECT_EQ(identity("1e-5"), identity("0.00001"));
  EXPECT_EQ(identity("1e-05"), identity("10e-6"));
  EXPECT_NE(identity("1e-5"), identity("1e-6"));
  EXPECT_EQ(spec_of(without(base(), "rms_norm_eps")).norm_epsilon, 1e-6);
  EXPECT_THAT(read(without(base(), "rms_norm_eps")).remarks,
              Contains("rms_norm_eps is missing: 0.000001"));
  for (const json& eps : {json(0), json(0.0), json(-1e-5), json(9e-13), json(1e300)}) {
    EXPECT_THAT(refusal(with_key(base(), "rms_norm_eps", eps)),
                HasSubstr("config.json: rms_norm_eps: out of bounds"))
        << eps;
  }
}

// ---- tying

TEST(ConfigTying, KnowsAllSixCombinations) {
  const json tied = with_key(base(), "tie_word_embeddings", true);
  const json untied = with_key(base(), "tie_word_embeddings", false);
  const json silent = without(base(), "tie_word_embeddings");
  const auto unused = HasSubstr("the file's lm_head.weight is unused");
  const auto absent = HasSubstr("the checkpoint has no lm_head.weight: the head is the embedding");
  EXPECT_TRUE(read(tied, true).spec.tied_head);
  EXPECT_THAT(read(tied, true).remarks, Contains(unused));
  EXPECT_TRUE(read(tied, false).spec.tied_head);
  EXPECT_THAT(read(tied, false).remarks, IsEmpty());
  EXPECT_FALSE(read(untied, true).spec.tied_head);
  EXPECT_THAT(read(untied, true).remarks, IsEmpty());
  EXPECT_TRUE(read(untied, false).spec.tied_head);
  EXPECT_THAT(read(untied, false).remarks, Contains(absent));
  EXPECT_FALSE(read(silent, true).spec.tied_head);
  EXPECT_TRUE(read(silent, false).spec.tied_head);
  EXPECT_THAT(read(silent, false).remarks, Contains(absent));
}

TEST(ConfigTying, NeedsNoCheckpoint) {
  EXPECT_TRUE(read(with_key(base(), "tie_word_embeddings", true)).spec.tied_head);
  EXPECT_FALSE(read(base()).spec.tied_head);
  const ModelReading silent = read(without(base(), "tie_word_embeddings"));
  EXPECT_FALSE(silent.spec.tied_head);
  EXPECT_THAT(silent.remarks, Contains(HasSubstr("tie_word_embeddings is missing")));
}

// ---- windows

TEST(ConfigWindow, IsMistralsUnlessNull) {
  EXPECT_EQ(spec_of(with_key(base("mistral"), "sliding_window", 17)).window, 17);
  EXPECT_EQ(spec_of(with_key(base("mistral"), "sliding_window", nullptr)).window, std::nullopt);
  const ModelReading missing = read(without(base("mistral"), "sliding_window"));
  EXPECT_EQ(missing.spec.window, 4096);
  EXPECT_THAT(missing.remarks, Contains("sliding_window is missing: 4096"));
  for (const json& window : {json(0), json(-1), json(4096.0), json("4096"), json(true)}) {
    EXPECT_THAT(refusal(with_key(base("mistral"), "sliding_window", window)),
                HasSubstr("config.json: sliding_window: "));
  }
}

TEST(ConfigWindow, IsOffWithItsSwitch) {
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3"}) {
    json off = with_key(base(family), "sliding_window", 100);
    off["use_sliding_window"] = false;
    EXPECT_EQ(spec_of(off), spec_of(base(family))) << family;
  }
  // The Qwens' switch is off where it is missing.
  EXPECT_EQ(spec_of(with_key(without(base("qwen2"), "use_sliding_window"), "sliding_window", 100)),
            spec_of(base("qwen2")));
}

TEST(ConfigWindow, OfTheQwensCoversAllLayersOrNone) {
  json on = with_key(base("qwen2"), "sliding_window", 100);
  on["use_sliding_window"] = true;
  EXPECT_EQ(spec_of(with_key(on, "max_window_layers", 0)).window, 100);
  EXPECT_EQ(spec_of(with_key(on, "max_window_layers", 2)).window, std::nullopt);
  EXPECT_EQ(spec_of(with_key(on, "max_window_layers", 28)).window, std::nullopt);
  EXPECT_EQ(refusal(with_key(on, "max_window_layers", 1)),
            "config.json: max_window_layers: a mixture of windowed and full attention is not "
            "supported; got 1 of 2 layers windowed, want all layers alike");
  EXPECT_EQ(
      spec_of(with_key(with_key(on, "sliding_window", nullptr), "max_window_layers", 0)).window,
      std::nullopt);
}

TEST(ConfigWindow, FollowsLayerTypes) {
  const json full = json::array({"full_attention", "full_attention"});
  const json sliding = json::array({"sliding_attention", "sliding_attention"});
  const json mixed = json::array({"sliding_attention", "full_attention"});
  EXPECT_EQ(spec_of(with_key(base(), "layer_types", full)), spec_of(base()));
  json qwen = with_key(base("qwen3"), "sliding_window", 100);
  qwen["use_sliding_window"] = true;
  EXPECT_EQ(spec_of(with_key(qwen, "layer_types", sliding)).window, 100);
  EXPECT_EQ(spec_of(with_key(qwen, "layer_types", full)).window, std::nullopt);
  const std::string mixture =
      "config.json: layer_types: a mixture of windowed and full attention is not supported; got 1 "
      "of 2 layers windowed, want all layers alike";
  EXPECT_EQ(refusal(with_key(qwen, "layer_types", mixed)), mixture);
  EXPECT_EQ(refusal(with_key(base("mistral"), "layer_types", mixed)), mixture);
  EXPECT_EQ(refusal(with_key(base(), "layer_types", json::array({"full_attention"}))),
            "config.json: layer_types: another count than num_hidden_layers; got 1, want 2");
  EXPECT_THAT(
      refusal(with_key(base(), "layer_types", json::array({"full_attention", "linear_attention"}))),
      HasSubstr("layer_types: an attention that is not supported; got "
                "\"linear_attention\""));
  EXPECT_THAT(refusal(with_key(base(), "layer_types", 3)), HasSubstr("layer_types: another value"));
  EXPECT_EQ(
      spec_of(with_key(with_key(base("mistral"), "sliding_window", 9), "layer_types", sliding))
          .window,
      9);
  EXPECT_THAT(
      refusal(with_key(with_key(base("mistral"), "sliding_window", 9), "layer_types", full)),
      HasSubstr("layer_types: contradicts sliding_window"));
  json off = with_key(qwen, "layer_types", sliding);
  off["use_sliding_window"] = false;
  EXPECT_THAT(refusal(off), HasSubstr("layer_types: windowed attention with its switch off"));
  EXPECT_THAT(refusal(with_key(base("mistral"), "layer_types", sliding)),
              HasSubstr("sliding_window: missing, where layer_types says sliding_attention"));
}

TEST(ConfigWindow, OfALlamaIsRefused) {
  EXPECT_EQ(refusal(with_key(base(), "sliding_window", 100)),
            "config.json: sliding_window: a Llama has no window; got 100, want null");
}

// ---- keys

TEST(ConfigKeys, ThatChangeBitsAreRefusedByNameUnlessNeutral) {
  const std::vector<std::pair<const char*, json>> refused = {
      {"attention_bias", true},
      {"mlp_bias", true},
      {"partial_rotary_factor", 0.5},
      {"rope_interleave", true},
      {"embedding_multiplier", 12.0},
      {"residual_multiplier", 0.22},
      {"attention_multiplier", 0.015625},
      {"logits_scaling", 8.0},
      {"logit_scale", 0.0625},
      {"scale_emb", 12},
      {"final_logit_softcapping", 30.0},
      {"attn_logit_softcapping", 50.0},
      {"query_pre_attn_scalar", 256},
      {"clip_qkv", 8.0},
      {"quantization_config", {{"quant_method", "gptq"}}},
      {"compression_config", {{"format", "x"}}},
      {"num_experts", 8},
      {"num_local_experts", 8},
      {"moe_intermediate_size", 768},
      {"attention_chunk_size", 8192},
      {"sliding_window_pattern", 6},
      {"kv_lora_rank", 512},
      {"auto_map", {{"AutoModel", "modeling.X"}}},
      {"use_qk_norm", true},
      {"no_rope_layers", json::array({1, 0})},
      {"is_encoder_decoder", true},
      {"pruned_heads", {{"1", json::array({0})}}},
      {"text_config", json::object()},
      {"position_embedding_type", "alibi"}};
  for (const auto& [key, value] : refused) {
    EXPECT_THAT(refusal(with_key(base(), key, value)),
                HasSubstr(std::string("config.json: ") + key +
                          ": changes the arithmetic in a way that is not supported; got "));
    EXPECT_EQ(spec_of(with_key(base(), key, nullptr)), spec_of(base())) << key;
  }
  const std::vector<std::pair<const char*, json>> neutral = {{"attention_bias", false},
                                                             {"mlp_bias", false},
                                                             {"partial_rotary_factor", 1.0},
                                                             {"partial_rotary_factor", 1},
                                                             {"embedding_multiplier", 1.0},
                                                             {"residual_multiplier", 1},
                                                             {"logits_scaling", 1.0},
                                                             {"num_experts", 0},
                                                             {"pruned_heads", json::object()},
                                                             {"quantization_config", nullptr},
                                                             {"use_mrope", false},
                                                             {"position_embedding_type", "rope"}};
  for (const auto& [key, value] : neutral) {
    EXPECT_EQ(spec_of(with_key(base(), key, value)), spec_of(base())) << key;
    EXPECT_THAT(read(with_key(base(), key, value)).remarks, IsEmpty()) << key;
  }
}

TEST(ConfigKeys, ThatAFamilyStatesAnywayAreFine) {
  EXPECT_EQ(spec_of(with_key(base("qwen3"), "use_qk_norm", true)), spec_of(base("qwen3")));
  EXPECT_THAT(refusal(with_key(base("qwen3"), "use_qk_norm", "yes")), HasSubstr("use_qk_norm"));
  EXPECT_EQ(spec_of(with_key(base("qwen2"), "qkv_bias", true)), spec_of(base("qwen2")));
  EXPECT_THAT(refusal(with_key(base("qwen2"), "attention_bias", true)),
              HasSubstr("attention_bias"));
  EXPECT_THAT(refusal(with_key(base("qwen3"), "attention_bias", true)),
              HasSubstr("attention_bias"));
}

TEST(ConfigKeys, ThatChangeNoBitArePassedOver) {
  json config = base();
  config["torch_dtype"] = "float16";
  config["attention_dropout"] = 0.1;
  config["initializer_range"] = 0.5;
  config["pretraining_tp"] = 2;
  config["use_cache"] = false;
  config["id2label"] = {{"0", "a"}};
  config["bos_token_id"] = json::array({1, 2});
  config["_name_or_path"] = "x";
  EXPECT_EQ(spec_of(config), spec_of(base()));
  EXPECT_THAT(read(config).remarks, IsEmpty());
}

TEST(ConfigKeys, ThatNoClassReadsAreSaid) {
  const ModelReading reading = read(with_key(base(), "my_extra", 3));
  EXPECT_EQ(reading.spec, spec_of(base()));
  EXPECT_THAT(reading.remarks,
              Contains("key \"my_extra\" is not one that this model class reads: passed over"));
}

TEST(ConfigKeys, OfOtherActivationsAreRefused) {
  for (const char* act : {"gelu", "relu", "gelu_pytorch_tanh", ""}) {
    EXPECT_THAT(refusal(with_key(base(), "hidden_act", act)),
                HasSubstr("hidden_act: an activation that is not supported"));
  }
  EXPECT_EQ(spec_of(with_key(base(), "hidden_act", "swish")), spec_of(base()));
  EXPECT_THAT(read(without(base(), "hidden_act")).remarks, Contains("hidden_act is missing: silu"));
}

// ---- JSON

TEST(ConfigJson, RefusesSizesThatAreNotWholeNumbersFromOne) {
  for (const char* key : {"hidden_size", "intermediate_size", "num_hidden_layers",
                          "num_attention_heads", "vocab_size"}) {
    const std::string place = std::string("config.json: ") + key + ": ";
    EXPECT_EQ(refusal(without(base(), key)),
              place + "missing; got nothing, want a whole number from 1");
    for (const json& value :
         {json(0), json(-1), json(64.0), json(64.5), json("64"), json(true), json::array({64}),
          json(std::int64_t{1} << 40), json(18446744073709551615u)}) {
      EXPECT_THAT(refusal(with_key(base(), key, value)), HasSubstr(place)) << value;
    }
  }
}

TEST(ConfigJson, NamesTheKeyOfABoundThatIsBroken) {
  const std::vector<std::pair<const char*, json>> wrong = {{"num_hidden_layers", 5000},
                                                           {"hidden_size", 70000},
                                                           {"intermediate_size", 70000},
                                                           {"head_dim", 258},
                                                           {"head_dim", 7}};
  for (const auto& [key, value] : wrong) {
    EXPECT_THAT(refusal(with_key(base(), key, value)),
                HasSubstr(std::string("config.json: ") + key + ": "))
        << value;
  }
}

TEST(ConfigJson, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(refusal_of_text(R"({"model_type": "llama", "vocab_size": 1, "vocab_size": 2})"),
            "config.json: vocab_size: the key stands twice");
  EXPECT_EQ(refusal_of_text(R"({"rope_scaling": {"type": "linear", "factor": 2, "factor": 4}})"),
            "config.json: factor: the key stands twice");
}

TEST(ConfigJson, RefusesNumbersThatAreNone) {
  for (const char* number : {"1e400", "NaN", "Infinity", "-Infinity", "1.", "01", "0x10"}) {
    EXPECT_THAT(refusal_of_text(std::string(R"({"rms_norm_eps": )") + number + "}"),
                HasSubstr("config.json: rms_norm_eps: not JSON here or just after"))
        << number;
  }
}

TEST(ConfigJson, RefusesWhatIsNoObject) {
  for (const char* text :
       {"", "[]", "3", "null", "{", "{\"a\"", "{} {}", "\xff", "{\"a\": \"\xff\"}"}) {
    EXPECT_THROW(read_config(text, "config.json"), Error) << text;
  }
  EXPECT_EQ(refusal_of_text("[1]"), "config.json: not a config; got [1], want a JSON object");
}

TEST(ConfigJson, RefusesDepthAndSizeAtOnce) {
  const std::string deep = "{\"rope_scaling\": " + std::string(1 << 20, '[');
  EXPECT_EQ(refusal_of_text(deep), "config.json: rope_scaling: nested deeper than 32");
  EXPECT_THAT(refusal_of_text(std::string((4 << 20) + 1, ' ')),
              HasSubstr("config.json: too large for a config"));
}

TEST(ConfigJson, RefusesWrongTypesByKey) {
  const std::vector<std::pair<const char*, json>> wrong = {{"tie_word_embeddings", 1},
                                                           {"tie_word_embeddings", "true"},
                                                           {"use_sliding_window", 0},
                                                           {"hidden_act", 3},
                                                           {"model_type", 3},
                                                           {"rope_theta", "10000"},
                                                           {"rms_norm_eps", "1e-5"},
                                                           {"max_position_embeddings", "1024"},
                                                           {"max_position_embeddings", 0},
                                                           {"rope_scaling", json::array()},
                                                           {"head_dim", 8.5},
                                                           {"head_dim", true}};
  for (const auto& [key, value] : wrong) {
    EXPECT_THAT(refusal(with_key(base(), key, value)),
                HasSubstr(std::string("config.json: ") + key))
        << value;
  }
}

}  // namespace
}  // namespace logos
