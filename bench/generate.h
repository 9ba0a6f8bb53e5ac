#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/plan.h"
#include "bench/tape.h"

namespace logos::bench {

/// A greedy continuation of a planned cut's sequence.
struct GenerateWork {
  Sequence prompt;           ///< everything up to the cut's last token, from position 1
  std::int64_t count = 0;    ///< tokens to generate
  std::int64_t context = 0;  ///< positions of the cache
};

/// Throws Error for parts and batches (no one sequence to continue) and a context too short.
GenerateWork generate_work(const Plan& plan, std::int64_t count,
                           std::optional<std::int64_t> context);

/// Prefill of the prompt in chunks, then decode steps; each time the first of the largest logits.
/// Gives the generated ids, from 0.
std::vector<std::int64_t> generate(const GenerateWork& work, const ModelSpec& spec, Tape& tape);

/// Index of the first of the largest values.
std::int64_t first_largest(std::span<const float> values);

}  // namespace logos::bench
