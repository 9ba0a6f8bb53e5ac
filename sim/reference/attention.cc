#include "sim/reference/attention.h"

#include <algorithm>

#include "sim/reference/arithmetic.h"

// The same loops compiled for each kind of instructions. They are exact integer sums, so the
// compiler's order does not matter; nothing in binary32 is here.
#define LOGOS_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define LOGOS_AVX2 __attribute__((target("avx2")))
#define LOGOS_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#endif

namespace logos::reference {
namespace {

/// Columns whose products with one byte of the query fit int32: 256*32767*255 < 2^31.
constexpr std::int64_t kNarrowColumns = 256;

/// The query in its two bytes, as int16.
struct Query {
  const std::int16_t* hi;
  const std::int16_t* lo;
  std::int64_t columns;
};

LOGOS_INLINE void dots(const Query& query, const std::int16_t* keys, std::int64_t stride,
                       std::int64_t count, std::int64_t* products) {
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int16_t* key = keys + t * stride;
    std::int64_t product = 0;
    for (std::int64_t begin = 0; begin < query.columns; begin += kNarrowColumns) {
      const std::int64_t end = std::min(query.columns, begin + kNarrowColumns);
      std::int32_t hi = 0;
      std::int32_t lo = 0;
      for (std::int64_t i = begin; i < end; ++i) hi += std::int32_t{key[i]} * query.hi[i];
      for (std::int64_t i = begin; i < end; ++i) lo += std::int32_t{key[i]} * query.lo[i];
      product += std::int64_t{hi} * 256 + lo;
    }
    products[t] = product;
  }
}

LOGOS_INLINE void weighted(const std::int32_t* weights, const std::int16_t* values,
                           std::int64_t stride, std::int64_t count, std::int64_t columns,
                           std::int64_t* sums) {
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int16_t* value = values + t * stride;
    const std::int32_t weight = weights[t];
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += std::int64_t{weight} * value[i];
  }
}

using Dots = void (*)(const Query&, const std::int16_t*, std::int64_t, std::int64_t, std::int64_t*);
using Weighted = void (*)(const std::int32_t*, const std::int16_t*, std::int64_t, std::int64_t,
                          std::int64_t, std::int64_t*);

struct Loops {
  Dots dots;
  Weighted weighted;
};

void plain_dots(const Query& query, const std::int16_t* keys, std::int64_t stride,
                std::int64_t count, std::int64_t* products) {
  dots(query, keys, stride, count, products);
}
void plain_weighted(const std::int32_t* weights, const std::int16_t* values, std::int64_t stride,
                    std::int64_t count, std::int64_t columns, std::int64_t* sums) {
  weighted(weights, values, stride, count, columns, sums);
}

#if defined(__x86_64__)
LOGOS_AVX2 void avx2_dots(const Query& query, const std::int16_t* keys, std::int64_t stride,
                          std::int64_t count, std::int64_t* products) {
  dots(query, keys, stride, count, products);
}
LOGOS_AVX2 void avx2_weighted(const std::int32_t* weights, const std::int16_t* values,
                              std::int64_t stride, std::int64_t count, std::int64_t columns,
                              std::int64_t* sums) {
  weighted(weights, values, stride, count, columns, sums);
}
LOGOS_AVX512 void avx512_dots(const Query& query, const std::int16_t* keys, std::int64_t stride,
                              std::int64_t count, std::int64_t* products) {
  dots(query, keys, stride, count, products);
}
LOGOS_AVX512 void avx512_weighted(const std::int32_t* weights, const std::int16_t* values,
                                  std::int64_t stride, std::int64_t count, std::int64_t columns,
                                  std::int64_t* sums) {
  weighted(weights, values, stride, count, columns, sums);
}
#endif

Loops loops_of(Instructions instructions) {
  switch (instructions) {
#if defined(__x86_64__)
    case Instructions::kAvx2:
      return {avx2_dots, avx2_weighted};
    case Instructions::kAvx512:
    case Instructions::kAvx512Vnni:
      return {avx512_dots, avx512_weighted};
#else
    case Instructions::kAvx2:
    case Instructions::kAvx512:
    case Instructions::kAvx512Vnni:
#endif
    case Instructions::kPlain:
      break;
  }
  return {plain_dots, plain_weighted};
}

/// s_t from I_t; gives m, their maximum.
float score_all(std::int8_t query_exponent, const std::int8_t* key_exponents, std::int64_t heads,
                float isq, HeadTrace& trace) {
  const std::size_t count = trace.products.size();
  trace.scores.resize(count);
  for (std::size_t t = 0; t < count; ++t) {
    const std::int8_t key_exponent = key_exponents[static_cast<std::int64_t>(t) * heads];
    trace.scores[t] = score_of(trace.products[t], query_exponent, key_exponent, isq);
  }
  return *std::max_element(trace.scores.begin(), trace.scores.end());
}

/// w_t and L from s_t, m and E.
void weigh_all(float greatest, std::int8_t greatest_exponent, const std::int8_t* value_exponents,
               std::int64_t heads, HeadTrace& trace) {
  const std::size_t count = trace.scores.size();
  trace.weights.resize(count);
  trace.weight_sum = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const float p = exp_neg(trace.scores[t] - greatest);
    trace.weight_sum += rounded(p, 23);
    const std::int8_t exponent = value_exponents[static_cast<std::int64_t>(t) * heads];
    trace.weights[t] =
        exponent == kZeroExponent
            ? 0
            : static_cast<std::int32_t>(rounded(p, 23 + exponent - greatest_exponent));
  }
}

}  // namespace

void exact_dots(std::span<const std::int16_t> query, const std::int16_t* keys, std::int64_t stride,
                std::span<std::int64_t> products, Instructions instructions) {
  std::vector<std::int16_t> bytes(query.size() * 2);
  for (std::size_t i = 0; i < query.size(); ++i) {
    bytes[i] = static_cast<std::int16_t>(query[i] >> 8);
    bytes[query.size() + i] = static_cast<std::int16_t>(query[i] & 255);
  }
  const Query split{bytes.data(), bytes.data() + query.size(),
                    static_cast<std::int64_t>(query.size())};
  loops_of(instructions)
      .dots(split, keys, stride, static_cast<std::int64_t>(products.size()), products.data());
}

void add_weighted(std::span<const std::int32_t> weights, const std::int16_t* values,
                  std::int64_t stride, std::span<std::int64_t> sums, Instructions instructions) {
  loops_of(instructions)
      .weighted(weights.data(), values, stride, static_cast<std::int64_t>(weights.size()),
                static_cast<std::int64_t>(sums.size()), sums.data());
}

void attend(std::span<const std::int16_t> query, std::int8_t query_exponent,
            const KvCache::Layer& layer, std::int64_t heads, std::int64_t key_head,
            std::int64_t first, std::int64_t last, std::span<float> output, HeadTrace& trace,
            Instructions instructions) {
  const auto columns = static_cast<std::int64_t>(query.size());
  const std::int64_t stride = heads * columns;
  const std::int64_t block = first * heads + key_head;
  const auto count = static_cast<std::size_t>(last - first + 1);

  trace.products.resize(count);
  exact_dots(query, layer.keys.data() + block * columns, stride, trace.products, instructions);
  const std::int8_t* key_exponents = layer.key_exponents.data() + block;
  const float greatest =
      score_all(query_exponent, key_exponents, heads, inverse_root(columns), trace);

  const std::int8_t* value_exponents = layer.value_exponents.data() + block;
  std::int8_t greatest_exponent = kZeroExponent;
  for (std::size_t t = 0; t < count; ++t) {
    greatest_exponent =
        std::max(greatest_exponent, value_exponents[static_cast<std::int64_t>(t) * heads]);
  }
  weigh_all(greatest, greatest_exponent, value_exponents, heads, trace);

  trace.sums.assign(query.size(), 0);
  add_weighted(trace.weights, layer.values.data() + block * columns, stride, trace.sums,
               instructions);
  const float inverse = 8388608.0f / nearest_f32(trace.weight_sum);  // 2^23 / F(L)
  for (std::size_t i = 0; i < output.size(); ++i) {
    output[i] = greatest_exponent == kZeroExponent
                    ? 0.0f
                    : scaled_by_power(nearest_f32(trace.sums[i]) * inverse, greatest_exponent - 23);
  }
}

}  // namespace logos::reference
