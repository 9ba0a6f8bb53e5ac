#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace logos {

/// How positions turn into angles (arithmetic.md, section 7). Numbers are the binary64 values that
/// the config's decimals read as.
struct Rotary {
  enum class Kind { kPlain, kLinear, kLlama3 };
  Kind kind = Kind::kPlain;
  double base = 10000;
  double factor = 1;    ///< linear, llama3
  double low = 1;       ///< llama3: low_freq_factor
  double high = 4;      ///< llama3: high_freq_factor
  double original = 0;  ///< llama3: original_max_position_embeddings

  bool operator==(const Rotary&) const = default;
};

/// How matrices are encoded (arithmetic.md, section 3).
enum class Profile { kA, kB };

/// A model's shape and everything else that changes a bit. No name, no directory.
struct ModelSpec {
  Profile profile = Profile::kA;
  std::int64_t layers = 0;
  std::int64_t columns = 0;         ///< hidden_size
  std::int64_t query_heads = 0;     ///< num_attention_heads
  std::int64_t key_heads = 0;       ///< num_key_value_heads
  std::int64_t head_columns = 0;    ///< head_dim
  std::int64_t hidden_columns = 0;  ///< intermediate_size
  std::int64_t vocabulary = 0;
  double norm_epsilon = 0;
  Rotary rotary;
  std::optional<std::int64_t> window;  ///< sliding attention window in positions
  bool qkv_bias = false;               ///< Qwen2: biases on the query, key and value projections
  bool qk_norm = false;                ///< Qwen3: a norm over each query and key head
  bool tied_head = false;              ///< the head reads the embedding matrix

  bool operator==(const ModelSpec&) const = default;
};

/// A spec as read, with what the user should be told once (defaults taken, a head's tying, …).
struct ModelReading {
  ModelSpec spec;
  std::vector<std::string> remarks;    ///< one line each, for stderr
  std::int64_t trained_positions = 0;  ///< max_position_embeddings; 0 where unknown
};

/// Reads the text of a Hugging Face `config.json`. `where` names it in errors. `has_head_tensor`:
/// whether the checkpoint's header holds `lm_head.weight`, where a checkpoint is at hand.
/// Throws Error naming the key, what was found and what was wanted.
ModelReading read_config(std::string_view json, std::string_view where,
                         std::optional<bool> has_head_tensor = std::nullopt);

/// Reads `dir/config.json`, and the header of the checkpoint beside it where there is one.
ModelReading read_model_directory(const std::filesystem::path& dir);

/// The named presets of shapes, from their published configurations.
std::vector<std::string> preset_names();
std::optional<ModelSpec> preset(std::string_view name);

/// Throws Error where a spec breaks a bound that every lane relies on (sizes from 1 up, heads
/// dividing, epsilon >= 2^-40, …). `where` names the source of the spec.
void validate(const ModelSpec& spec, std::string_view where);

/// What `--model` names: a preset, `kjv` (the embedded default), a model directory or a GGUF file.
struct ModelName {
  std::string name;  ///< as given
  ModelReading reading;
  std::optional<std::filesystem::path> path;  ///< a directory or a GGUF file; null for a preset
  bool is_gguf = false;
};
ModelName resolve_model(std::string_view name);

}  // namespace logos
