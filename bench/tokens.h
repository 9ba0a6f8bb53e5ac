#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model.h"
#include "bench/options.h"

namespace logos::bench {

/// Token ids of the tokenizer, from 0.
using Sequence = std::vector<std::int64_t>;

/// The sequences that --tokens or --prompt give; null where the options give none. Throws Error
/// for an id outside the vocabulary, an empty list or item, and --prompt on a model whose tokens
/// are not bytes.
std::optional<std::vector<Sequence>> given_sequences(const Options& options, const Model& model);

/// Where a given sequence (from 0) stands, for errors: `--prompt`, `--tokens` or `--tokens
/// FILE:LINE`.
std::string place_of_given(const Options& options, std::size_t index);

/// The first `count` ids of the model's prompt.txt, from its start again where it is too short. A
/// model without one takes synthetic ids: splitmix64 from seed 1, modulo the vocabulary.
Sequence default_sequence(const Model& model, std::int64_t count);

/// The generator of synthetic inputs (Steele, Lea, Flood: splitmix64).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace logos::bench
