#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model.h"
#include "bench/options.h"
#include "bench/tokens.h"
#include "program/facts.h"
#include "program/identity.h"

namespace logos::bench {

/// A cut with the inputs of its run, before anything is computed.
struct Plan {
  Cut cut;
  std::int64_t chips = 1;
  Identity identity;
  std::string text;  ///< what is lowered: the placeholder form, or the very text of --text
  std::vector<std::int64_t> tokens;     ///< from 1, one a row
  std::vector<std::int64_t> positions;  ///< from 1, one a row
  std::int64_t capacity = 0;            ///< positions of each cache
  /// What fills the cache of a row from position 1 on: ids from 0. One that all rows share (a
  /// decode step, a chunk, a batch of equal rows), or one a row.
  std::vector<Sequence> histories;

  const Sequence& history(std::int64_t row) const {
    return histories.size() == 1 ? histories.front() : histories[static_cast<std::size_t>(row)];
  }
};

/// The cuts of the command line with their inputs, all checked before anything runs. `text` are the
/// facts of --text where it is given, `text_bytes` its bytes.
std::vector<Plan> plan_cuts(const Options& options, const Model& model,
                            const std::optional<Facts>& text, const std::string& text_bytes);

/// Digest of what a run is given beside program and weights: ids, positions, what fills its caches.
std::string inputs_sha256(const Plan& plan);

/// One warning on stderr where a run goes beyond the positions that the model states for itself.
void warn_beyond_training(const Options& options, const Model& model, std::int64_t last_position);

}  // namespace logos::bench
