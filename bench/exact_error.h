#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/outcome.h"
#include "bench/session.h"

namespace logos::bench {

/// Evaluates a cut in binary64 and puts the error of each lane's outputs into its outcome. What is
/// evaluated is what the lanes' inputs were made from: a model's own are tokens from position 1 on
/// (a part's rows and every cache follow from them); synthetic rows and caches stand as they are.
void add_exact_errors(Session& session, CutOutcome& cut);

/// Throws Error where the logits of a score's positions do not fit into this host's memory.
void check_exact_memory(const ScoreWork& work, const ModelSpec& spec);

/// The logits of all positions of a score in binary64, and how far a lane's are from them.
class ExactScore {
 public:
  ExactScore(const ScoreWork& work, const Model& model, int threads);

  /// Takes a lane's logits of one position (from 0) of a sequence (from 0).
  void add(std::size_t sequence, std::int64_t position, std::span<const float> logits);
  /// Over all that was added; begins anew.
  reference::ErrorOfArithmetic take();

 private:
  std::int64_t vocabulary_;
  std::vector<std::vector<double>> logits_;  ///< `[positions, vocabulary]` by sequence
  std::int64_t rows_ = 0;
  reference::ErrorOfArithmetic sum_;
};

}  // namespace logos::bench
