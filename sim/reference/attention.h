#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/kv_cache.h"
#include "sim/reference/instructions.h"

namespace logos::reference {

/// `products[t] = sum_i query[i] * keys[t*stride + i]`, exact (arithmetic.md, section 6: I_t).
void exact_dots(std::span<const std::int16_t> query, const std::int16_t* keys, std::int64_t stride,
                std::span<std::int64_t> products, Instructions instructions);

/// `sums[i] += sum_t weights[t] * values[t*stride + i]`, exact (section 6: A_i).
void add_weighted(std::span<const std::int32_t> weights, const std::int16_t* values,
                  std::int64_t stride, std::span<std::int64_t> sums, Instructions instructions);

/// What one query head saw, and the memory it was computed in.
struct HeadTrace {
  std::vector<float> scores;           ///< s_t of the visible positions, in order
  std::vector<std::int32_t> weights;   ///< w_t likewise
  std::int64_t weight_sum = 0;         ///< L
  std::vector<std::int64_t> products;  ///< I_t
  std::vector<std::int64_t> sums;      ///< A_i
};

/// Attention of one query head over the cached positions [first, last] (from 0) of a key head
/// (section 6). Scores and values are taken from the cache, also for the token itself.
void attend(std::span<const std::int16_t> query, std::int8_t query_exponent,
            const KvCache::Layer& layer, std::int64_t heads, std::int64_t key_head,
            std::int64_t first, std::int64_t last, std::span<float> output, HeadTrace& trace,
            Instructions instructions);

}  // namespace logos::reference
