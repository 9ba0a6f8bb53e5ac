#pragma once

#include "bench/outcome.h"
#include "bench/session.h"

namespace logos::bench {

/// Evaluates a cut in binary64 and puts the error of each lane's logits into its outcome. A cut
/// that shows no logits has none, and one that runs on synthetic caches or rows neither: there is
/// no sequence of tokens that they come from.
void add_exact_errors(Session& session, CutOutcome& cut);

}  // namespace logos::bench
