#include "spatial/tile/attention.h"

#include <algorithm>
#include <cmath>

#include "program/check.h"
#include "spatial/tile/arithmetic.h"
#include "spatial/tile/clones.h"

namespace logos::spatial {
namespace {

/// I_t: products of int16 fit int32 (-32768 never occurs), their sum does not.
LOGOS_SPATIAL_CLONES
std::int64_t dot(const std::int16_t* a, const std::int16_t* b, std::size_t n) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

LOGOS_SPATIAL_CLONES
void add_scaled(std::int64_t weight, const std::int16_t* v, std::size_t n, std::int64_t* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += weight * v[i];
}

}  // namespace

float inverse_root(std::int64_t head_columns) { return 1.0f / std::sqrt(to_float(head_columns)); }

void scores_of(std::span<const std::int16_t> query, std::int8_t exponent, const CacheEntries& keys,
               std::int64_t first, float isq, std::span<float> scores) {
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const std::size_t entry = static_cast<std::size_t>(first) + t;
    const std::int8_t key_exponent = keys.exponents[entry];
    const int e = exponent + key_exponent;
    if (exponent == kZeroBlock || key_exponent == kZeroBlock || e < -100) {
      scores[t] = 0.0f;
      continue;
    }
    const auto product = dot(query.data(), keys.vectors + entry * query.size(), query.size());
    scores[t] = two_to(e) * (to_float(product) * isq);
  }
}

std::int64_t weights_of(std::span<const float> scores, float largest, const std::int8_t* exponents,
                        int exponent, std::span<std::int32_t> weights) {
  CHECK(weights.size() == scores.size());
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const float p = exp_neg(scores[t] - largest);
    sum += to_integer(p, 23);
    weights[t] = exponents[t] == kZeroBlock
                     ? 0
                     : static_cast<std::int32_t>(to_integer(p, 23 + exponents[t] - exponent));
  }
  return sum;
}

void add_weighted(std::span<const std::int32_t> weights, const CacheEntries& values,
                  std::int64_t first, std::span<std::int64_t> sums) {
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (weights[t] == 0) continue;
    const std::size_t entry = static_cast<std::size_t>(first) + t;
    add_scaled(weights[t], values.vectors + entry * sums.size(), sums.size(), sums.data());
  }
}

void attention_of(std::int64_t weight_sum, std::span<const std::int64_t> sums, int exponent,
                  std::span<float> o) {
  CHECK(o.size() == sums.size());
  if (exponent == kZeroBlock) {
    std::fill(o.begin(), o.end(), 0.0f);
    return;
  }
  const float inverse = 0x1p23f / to_float(weight_sum);
  for (std::size_t i = 0; i < o.size(); ++i) {
    o[i] = two_to(exponent - 23) * (to_float(sums[i]) * inverse);
  }
}

}  // namespace logos::spatial
