// Named presets of shapes, each from the config.json its maker published.
#include "program/presets.h"

#include <array>

namespace logos {
namespace {

struct Preset {
  std::string_view name;
  std::int64_t trained_positions;  // max_position_embeddings
  ModelSpec spec;
};

std::array<Preset, 5> presets() {
  const Rotary llama32 = {Rotary::Kind::kLlama3, 500000, 32, 1, 4, 8192};
  const Rotary llama31 = {Rotary::Kind::kLlama3, 500000, 8, 1, 4, 8192};
  const Rotary million = {.kind = Rotary::Kind::kPlain, .base = 1000000};
  return {{
      // meta-llama/Llama-3.2-1B
      {"llama-3.2-1b",
       131072,
       {.layers = 16,
        .columns = 2048,
        .query_heads = 32,
        .key_heads = 8,
        .head_columns = 64,
        .hidden_columns = 8192,
        .vocabulary = 128256,
        .norm_epsilon = 1e-5,
        .rotary = llama32,
        .window = std::nullopt,
        .tied_head = true}},
      // meta-llama/Llama-3.1-8B
      {"llama-3.1-8b",
       131072,
       {.layers = 32,
        .columns = 4096,
        .query_heads = 32,
        .key_heads = 8,
        .head_columns = 128,
        .hidden_columns = 14336,
        .vocabulary = 128256,
        .norm_epsilon = 1e-5,
        .rotary = llama31,
        .window = std::nullopt}},
      // Qwen/Qwen2.5-0.5B: a sliding_window is written there, its switch is off
      {"qwen2.5-0.5b",
       32768,
       {.layers = 24,
        .columns = 896,
        .query_heads = 14,
        .key_heads = 2,
        .head_columns = 64,
        .hidden_columns = 4864,
        .vocabulary = 151936,
        .norm_epsilon = 1e-6,
        .rotary = million,
        .window = std::nullopt,
        .qkv_bias = true,
        .tied_head = true}},
      // Qwen/Qwen3-0.6B: heads wider than columns / query_heads
      {"qwen3-0.6b",
       40960,
       {.layers = 28,
        .columns = 1024,
        .query_heads = 16,
        .key_heads = 8,
        .head_columns = 128,
        .hidden_columns = 3072,
        .vocabulary = 151936,
        .norm_epsilon = 1e-6,
        .rotary = million,
        .window = std::nullopt,
        .qk_norm = true,
        .tied_head = true}},
      // mistralai/Mistral-7B-v0.1
      {"mistral-7b-v0.1",
       32768,
       {.layers = 32,
        .columns = 4096,
        .query_heads = 32,
        .key_heads = 8,
        .head_columns = 128,
        .hidden_columns = 14336,
        .vocabulary = 32000,
        .norm_epsilon = 1e-5,
        .rotary = {},
        .window = 4096}},
  }};
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name);
  return names;
}

std::optional<ModelSpec> preset(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset.spec;
  }
  return std::nullopt;
}

std::int64_t preset_trained_positions(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset.trained_positions;
  }
  return 0;
}

}  // namespace logos
