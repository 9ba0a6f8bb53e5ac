#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "sim/kv_cache.h"

namespace logos {

/// What a run of a cut is given. Tokens and positions count from 1, as in the text.
/// The caches are read and written: a run leaves in them what the program pushed.
struct Inputs {
  std::vector<std::int64_t> tokens;     ///< one a row; empty where the cut has no tokens
  std::vector<std::int64_t> positions;  ///< one a row; empty where the cut has no positions
  std::vector<float> given;             ///< `[rows, columns]` for a layer or head
  std::vector<KvCache> caches;          ///< one (shared by all rows) or one a row; may be empty
};

/// Throws Error where the inputs do not fit the program: counts, a token outside the vocabulary, a
/// position outside the cache, a chunk's positions not consecutive, attention over too many of
/// them, missing caches or layers.
void check_inputs(const Program& program, const Inputs& inputs);

}  // namespace logos
