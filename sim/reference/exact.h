#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "sim/kv_cache.h"
#include "sim/weights/checkpoint.h"
#include "sim/weights/store.h"

namespace logos::reference {

/// Where the evaluation in binary64 takes its weights from: a row of a matrix (from 0), or a gain
/// or bias whole.
struct ExactWeights {
  std::function<void(std::string_view tensor, std::int64_t row, std::span<double> values)> row;
  std::function<void(std::string_view tensor, std::span<double> values)> vector;
};

/// As the checkpoint has them, before any quantizer. Keeps a reference.
ExactWeights exact_weights(const Checkpoint& checkpoint);
/// As the store's integers stand for them, where there is no checkpoint. Keeps a reference.
ExactWeights exact_weights(const WeightStore& weights);

/// The logits of the last `last` tokens of a sequence, `[last, vocabulary]`, by the program of a
/// whole cut on one chip, evaluated in binary64 throughout: no quantizer, no rounding of a table,
/// the plain residual sum, and a cache of its own that holds the sequence from position 1. The
/// cut's rows and inputs do not matter: a step, a chunk and a batch row of the same tokens are the
/// same. Throws Error for the program of a part or of several chips.
std::vector<double> exact_logits(const Program& program, const ExactWeights& weights,
                                 std::span<const std::int64_t> tokens, std::int64_t last,
                                 int threads = 1);

/// What the evaluation of a cut, whole or a part, starts from. Its rows are consecutive positions
/// of one sequence; as many as there are tokens or given values, whatever the cut's own number.
struct ExactStart {
  std::vector<std::int64_t> tokens = {};  ///< counted from 1, where the cut has an embedding
  std::vector<double> given = {};         ///< `[rows, columns]`, where the cut takes rows
  /// Positions before the first row. What lies there are the numbers that stand in `before`, as the
  /// arithmetic stored them; it may be null where there are none.
  std::int64_t first = 0;
  const KvCache* before = nullptr;
};

/// What a cut on one chip shows, evaluated in binary64 throughout: the row stream of an embedding
/// or layer, every row; the logits of a whole cut or head, of the last `last` rows.
std::vector<double> exact_outputs(const Program& program, const ExactWeights& weights,
                                  const ExactStart& start, std::int64_t last, int threads = 1);

/// How far logits `[rows, columns]` are from exact ones of the same shape.
struct ErrorOfArithmetic {
  double kl = 0;               ///< mean over rows of KL(exact || logits), in nats
  double max_logit_error = 0;  ///< largest absolute difference of a logit
  double top1 = 0;             ///< fraction of rows whose first maximum is the same
};
ErrorOfArithmetic error_of_arithmetic(std::span<const float> logits, std::span<const double> exact,
                                      std::int64_t columns);

/// The largest absolute difference of outputs that are no logits.
double largest_difference(std::span<const float> outputs, std::span<const double> exact);

}  // namespace logos::reference
