#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "program/model_spec.h"
#include "program/written.h"
#include "sim/lane.h"
#include "sim/weights/store.h"

namespace logos {

/// A model under test and the ways to run it on the reference.
struct TestModel {
  ModelSpec spec;
  std::unique_ptr<WeightStore> weights;

  KvCache cache(std::int64_t positions) const {
    return {positions, spec.key_heads, spec.head_columns, 1, spec.layers};
  }
};

/// Of /work/shared/models (or the project's own): `dir` holds config.json and a checkpoint.
TestModel checkpoint_model(const std::filesystem::path& dir);
TestModel gguf_model(const std::filesystem::path& file);
TestModel synthetic_model(const ModelSpec& spec, std::uint64_t seed = 1);

/// Small shapes that are awkward in every respect: 97 tokens, 75 columns, heads of 10, …
ModelSpec odd_spec();
ModelSpec windowed_spec();  ///< as Mistral: a sliding window of 5
ModelSpec biased_spec();    ///< as Qwen2: biases, a tied head
ModelSpec normed_spec();    ///< as Qwen3: QK norm
ModelSpec blocks_spec();    ///< profile B: whole groups of 32, 8 heads over 2
ModelSpec tiny_spec();      ///< less rows and columns than chips: empty shares
struct NamedSpec {
  std::string name;
  ModelSpec spec;
};
std::vector<NamedSpec> synthetic_specs();
inline void PrintTo(const NamedSpec& named, std::ostream* out) { *out << named.name; }

/// Tokens from 1 by seed.
std::vector<std::int64_t> random_tokens(const ModelSpec& spec, std::int64_t count,
                                        std::uint64_t seed);

/// Lowers and runs a text on the reference.
Result run_reference(const Written& written, const TestModel& model, Inputs& inputs,
                     const RunOptions& options = {});

/// Logits `[positions, vocabulary]` of a sequence (tokens from 1), every token one decode step.
std::vector<float> logits_by_steps(const TestModel& model, const std::vector<std::int64_t>& tokens,
                                   std::int64_t chips = 1, const RunOptions& options = {});
/// The row stream after the last layer `[positions, columns]` in chunks of `chunk` tokens, parts
/// run one after the other, each row's logits by the head of a batch; the sequence's logits.
std::vector<float> logits_by_chunks(const TestModel& model, const std::vector<std::int64_t>& tokens,
                                    std::int64_t chunk, std::int64_t chips = 1,
                                    const RunOptions& options = {});

/// A cut at a run's own inputs, split over chips.
Written split_at(const ModelSpec& spec, const Cut& cut, std::int64_t chips,
                 const std::vector<std::int64_t>& tokens,
                 const std::vector<std::int64_t>& positions);

std::string sha256_of(const std::vector<float>& values);

}  // namespace logos
