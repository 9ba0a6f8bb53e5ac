#pragma once

#include <map>

#include "stories.h"

namespace logos::cuda::testing {

/// Scores a sequence token by token or in chunks, all positions' logits in order.
struct Scoring {
  const Lane& lane;
  const Model& model;
  LaneConfig config = gpu_config();
  std::int64_t chips = 1;
  std::int64_t context = 200;
  RunOptions options = {};

  mutable std::map<std::string, Lowered> lowered_cuts = {};

  const Lowered& lowered(const std::string& cut) const {
    const auto found = lowered_cuts.find(cut);
    if (found != lowered_cuts.end()) return found->second;
    return lowered_cuts.emplace(cut, lower(lane, model, cut, config, chips)).first->second;
  }
  Result run_part(const Lowered& part, Inputs& inputs) const {
    return run(lane, model, part, config, inputs, options);
  }

  /// One decode step a token.
  std::vector<float> by_steps(std::span<const std::int64_t> tokens) const {
    const Lowered& step = lowered("decode:" + std::to_string(context));
    Inputs inputs;
    inputs.caches.push_back(empty_cache(model.spec, context));
    std::vector<float> logits;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      inputs.tokens = {tokens[i] + 1};
      inputs.positions = {static_cast<std::int64_t>(i) + 1};
      const Result result = run_part(step, inputs);
      logits.insert(logits.end(), result.outputs.begin(), result.outputs.end());
    }
    return logits;
  }

  /// Embedding, layers and head of one cut, run one after the other: `work` is what stands behind
  /// the part's @, `head_work` likewise for the head.
  std::vector<float> by_parts(const std::string& work, const std::string& head_work,
                              Inputs& inputs) const {
    Inputs tokens;
    tokens.tokens = inputs.tokens;
    std::vector<float> rows = run_part(lowered("embedding@" + work), tokens).outputs;
    for (std::int64_t n = 1; n <= model.spec.layers; ++n) {
      Inputs layer;
      layer.positions = inputs.positions;
      layer.given = std::move(rows);
      layer.caches = std::move(inputs.caches);
      rows = run_part(lowered("layer:" + std::to_string(n) + "@" + work), layer).outputs;
      inputs.caches = std::move(layer.caches);
    }
    Inputs head;
    head.given = std::move(rows);
    return run_part(lowered("head@" + head_work), head).outputs;
  }

  /// Chunks of so many rows, every row through the head of a batch.
  std::vector<float> by_chunks(std::span<const std::int64_t> tokens, std::size_t chunk) const {
    Inputs inputs;
    inputs.caches.push_back(empty_cache(model.spec, context));
    std::vector<float> logits;
    for (std::size_t first = 0; first < tokens.size(); first += chunk) {
      const std::size_t rows = std::min(chunk, tokens.size() - first);
      inputs.tokens.clear();
      inputs.positions.clear();
      for (std::size_t i = first; i < first + rows; ++i) {
        inputs.tokens.push_back(tokens[i] + 1);
        inputs.positions.push_back(static_cast<std::int64_t>(i) + 1);
      }
      const std::string count = std::to_string(rows);
      const auto part =
          by_parts("prefill:" + count, "batch:" + count + "x" + std::to_string(context), inputs);
      logits.insert(logits.end(), part.begin(), part.end());
    }
    return logits;
  }

  /// Steps of several sequences together, a row and a cache each; one list of logits a sequence.
  std::vector<std::vector<float>> by_batches(
      const std::vector<std::vector<std::int64_t>>& sequences) const {
    const std::size_t rows = sequences.size();
    const Lowered& step = lowered("batch:" + std::to_string(rows) + "x" + std::to_string(context));
    Inputs inputs;
    for (std::size_t i = 0; i < rows; ++i) {
      inputs.caches.push_back(empty_cache(model.spec, context));
    }
    std::vector<std::vector<float>> logits(rows);
    for (std::size_t i = 0; i < sequences.front().size(); ++i) {
      inputs.tokens.clear();
      inputs.positions.clear();
      for (const auto& sequence : sequences) {
        inputs.tokens.push_back(sequence[i] + 1);
        inputs.positions.push_back(static_cast<std::int64_t>(i) + 1);
      }
      const Result result = run_part(step, inputs);
      for (std::size_t row = 0; row < rows; ++row) {
        const auto begin =
            result.outputs.begin() +
            static_cast<std::ptrdiff_t>(row * static_cast<std::size_t>(result.columns));
        logits[row].insert(logits[row].end(), begin, begin + result.columns);
      }
    }
    return logits;
  }
};

/// Token ids (from 0) of a golden sequence of stories260K.
inline std::vector<std::int64_t> sequence(std::size_t index) {
  const auto file = read_json(golden("stories260K.tokens.json"));
  return file["sequences"][index].get<std::vector<std::int64_t>>();
}
inline std::string sequence_digest(std::size_t index) {
  const auto file = read_json(golden("stories260K.logits.json"));
  return file["sequence_sha256"][index].get<std::string>();
}

}  // namespace logos::cuda::testing
