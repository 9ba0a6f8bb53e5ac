#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/dumper.h"
#include "bench/outcome.h"
#include "bench/tape.h"
#include "bench/tokens.h"

namespace logos::bench {

/// How sequences are fed: every token one decode step, chunks of tokens of one sequence, or
/// several sequences together, a row each.
struct ScoreMode {
  enum class Kind { kStep, kChunk, kBatch };
  Kind kind = Kind::kStep;
  std::int64_t size = 1;  ///< tokens of a chunk, sequences of a batch

  std::string text() const;  ///< for people
};

/// What is scored.
struct ScoreWork {
  std::vector<Sequence> sequences;
  std::int64_t context = 0;  ///< positions of every cache
  ScoreMode mode;
};

/// The sequences with the context they are run at: that given, else the longest sequence. Throws
/// Error where a sequence is longer.
ScoreWork score_work(std::vector<Sequence> sequences, std::optional<std::int64_t> context,
                     ScoreMode mode);

/// Digest of the sequences.
std::string inputs_sha256(const ScoreWork& work);

/// Throws Error where the caches that are alive at once do not fit into this host's memory.
/// `option`: the one that states their positions.
void check_score_memory(const ScoreWork& work, const ModelSpec& spec, std::string_view option = {});

/// The cuts that the work runs, each once: lowered (and refused) before the first token.
std::vector<Cut> score_cuts(const ScoreWork& work, const ModelSpec& spec);

struct Scored {
  Score total;
  std::vector<Score> sequences;
};

/// Sees the logits of one position (from 0) of a sequence (from 0), in no order of sequences.
using RowSeen =
    std::function<void(std::size_t sequence, std::int64_t position, std::span<const float> logits)>;

/// Feeds all sequences, each into an empty cache. `dumper` may be null, `seen` empty.
Scored score(const ScoreWork& work, const ModelSpec& spec, Tape& tape, Dumper* dumper,
             const RowSeen& seen = nullptr);

/// -log of the probability that a row of logits gives to `id`, in binary64: the largest logit is
/// taken out first.
double negative_log_likelihood(std::span<const float> logits, std::int64_t id);

}  // namespace logos::bench
