#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "program/model_spec.h"
#include "sim/weights/store.h"

namespace logos::bench {

/// What token ids stand for, as far as the model says.
struct Vocabulary {
  bool bytes = false;              ///< token id = byte
  std::vector<std::string> texts;  ///< by id, from vocab.json beside the model or GGUF; else empty

  bool known() const { return bytes || !texts.empty(); }
  /// The bytes that the ids stand for, with whatever is not UTF-8 replaced by U+FFFD. Null where
  /// the model does not say.
  std::optional<std::string> text(std::span<const std::int64_t> ids) const;
};

/// A model with its weights, as one command runs it.
struct Model {
  std::string name;
  ModelSpec spec;
  std::int64_t trained_positions = 0;         ///< 0 where unknown
  std::optional<std::filesystem::path> path;  ///< a directory or a GGUF file; null for a preset
  bool is_gguf = false;
  std::string weights_kind;  ///< "checkpoint", "gguf" or "synthetic:SEED"
  std::unique_ptr<WeightStore> weights;
  std::vector<std::int64_t> prompt;  ///< ids (from 0) of its prompt.txt; empty where it has none
  Vocabulary vocabulary;
};

/// Reads everything of a model but its weights. Remarks go to stderr.
Model read_model(std::string_view name);

/// Opens (or first packs) the weights that the options name. Remarks go to stderr.
void load_weights(const Options& options, Model& model);

/// Reads ids (from 0) as texts out of a vocab.json: an object of `"ID": TEXT`, `<0xNN>` being one
/// byte. Nothing where it is a tokenizer's own vocab.json, `TEXT: ID`. `where` names it in errors.
std::vector<std::string> read_vocabulary(std::string_view json, std::string_view where,
                                         std::int64_t vocabulary);

/// The text with every byte that is no valid UTF-8, and every control character but line feed and
/// tab, replaced by U+FFFD: what may go to a terminal or a JSON string.
std::string printable_utf8(std::string_view bytes);

}  // namespace logos::bench
