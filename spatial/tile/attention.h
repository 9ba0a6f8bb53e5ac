#pragma once

#include <cstdint>
#include <span>

/// Attention over the positions that one tile holds (design/arithmetic.md, section 6).
namespace logos::spatial {

/// f32(1 / f32sqrt(head_columns)).
float inverse_root(std::int64_t head_columns);

/// What of a cache a tile holds of one key head: entries `[entries][columns]`, an exponent each.
struct CacheEntries {
  const std::int16_t* vectors = nullptr;
  const std::int8_t* exponents = nullptr;
};

/// s_t of entries [first, first + scores.size()) of the keys, for one query head.
void scores_of(std::span<const std::int16_t> query, std::int8_t exponent, const CacheEntries& keys,
               std::int64_t first, float isq, std::span<float> scores);

/// l_t and w_t of one query head over a tile's entries: its largest score `largest` and largest
/// value exponent `exponent` are those over all tiles. Writes w_t; returns the sum of l_t.
std::int64_t weights_of(std::span<const float> scores, float largest, const std::int8_t* exponents,
                        int exponent, std::span<std::int32_t> weights);

/// A_i += sum over entries [first, first + weights.size()) of w_t * v_ti.
void add_weighted(std::span<const std::int32_t> weights, const CacheEntries& values,
                  std::int64_t first, std::span<std::int64_t> sums);

/// o_i of the sums over all tiles.
void attention_of(std::int64_t weight_sum, std::span<const std::int64_t> sums, int exponent,
                  std::span<float> o);

}  // namespace logos::spatial
