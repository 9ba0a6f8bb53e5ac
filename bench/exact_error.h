#pragma once

#include <span>

#include "bench/outcome.h"
#include "bench/session.h"

namespace logos::bench {

/// Evaluates a cut in binary64 and puts the error of each lane's logits into its outcome. Cuts that
/// show no logits have none.
void add_exact_errors(Session& session, CutOutcome& cut);

/// The error of logits `[rows, columns]` against exact ones of the same shape.
ExactError error_of(std::span<const float> logits, std::span<const double> exact,
                    std::int64_t columns);

}  // namespace logos::bench
