#pragma once

// OFA-1 (design/arithmetic.md) as kernels compute it: elementwise binary32 in the written order
// with one rounding per operation, everything else in integers. The section numbers are of that
// document. Nothing here is shared with the reference: what agrees has been computed twice.

#include <cstdint>

#include "cuda/kernels/primitives.cuh"

namespace logos::cuda {

/// Exponent tag of an all-zero block.
inline constexpr int kZeroExponent = -128;

// --- 1 primitive operations ------------------------------------------------------------------

LOGOS_DEVICE std::uint32_t magnitude_bits(float x) { return __float_as_uint(x) & 0x7FFFFFFF; }

/// EXP(x) of the magnitude bits of x.
LOGOS_DEVICE int exponent_of(std::uint32_t bits) { return static_cast<int>(bits >> 23) - 127; }

/// 2^e * x for e in -126 … 127: a multiplication by a power of two, exact wherever a consumer sees
/// the difference.
LOGOS_DEVICE float scaled(int e, float x) {
  return __fmul_rn(__uint_as_float(static_cast<std::uint32_t>(e + 127) << 23), x);
}

/// R(x, s): the integer nearest to x * 2^s, ties to even; |x * 2^s| < 2^30.
LOGOS_DEVICE std::int32_t round_scaled(float x, int s) {
  const std::uint32_t bits = __float_as_uint(x);
  const std::uint32_t field = bits >> 23 & 0xFF;
  const std::uint32_t m = (bits & 0x7FFFFF) | 0x800000;
  const int n = 23 - (static_cast<int>(field) - 127 + s);  // |x * 2^s| = m / 2^n
  std::uint32_t q;
  if (field == 0 || n > 25) {
    q = 0;
  } else if (n <= 0) {
    q = m << min(-n, 7);  // 6 at most; a damaged plan may bring anything
  } else {
    q = m >> n;
    const std::uint32_t rest = m & ((1U << n) - 1);
    const std::uint32_t half = 1U << (n - 1);
    q += rest > half || (rest == half && (q & 1) != 0) ? 1 : 0;
  }
  const std::int32_t magnitude = static_cast<std::int32_t>(q);
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

/// F(i).
LOGOS_DEVICE float nearest_float(std::int64_t i) {
  return __ll2float_rn(static_cast<long long>(i));
}

/// Unsigned integers in the order of finite binary32 numbers, for exact maxima. +0 is above -0.
LOGOS_DEVICE std::uint32_t ordered_bits(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000;
}
LOGOS_DEVICE float from_ordered_bits(std::uint32_t ordered) {
  return __uint_as_float((ordered >> 31) != 0 ? ordered & 0x7FFFFFFF : ~ordered);
}

// --- 2 block quantizer -----------------------------------------------------------------------

/// What the largest magnitude bits of a block decide.
struct BlockScale {
  int exponent;  ///< e: of the integers, or kZeroExponent
  int shift;     ///< q = R(x, shift)
  bool fault;    ///< the block raises FAULT
};

LOGOS_DEVICE BlockScale block_scale(std::uint32_t peak) {
  const int x = exponent_of(peak);
  if (x > 40) return {kZeroExponent, 0, true};
  if (x < -60) return {kZeroExponent, 0, false};
  return {x - 14, 14 - x, false};
}

/// One integer of the block.
LOGOS_DEVICE std::int32_t quantized(float x, const BlockScale& scale) {
  if (scale.exponent == kZeroExponent) return 0;
  const std::int32_t q = round_scaled(x, scale.shift);
  return min(max(q, -32767), 32767);
}

/// a = 256 * hi + lo (section 4), hi signed, lo unsigned.
LOGOS_DEVICE std::int8_t high_byte(std::int32_t a) { return static_cast<std::int8_t>(a >> 8); }
LOGOS_DEVICE std::uint8_t low_byte(std::int32_t a) { return static_cast<std::uint8_t>(a & 0xFF); }

// --- 4 matmul, 5 RMS norm --------------------------------------------------------------------

/// D of every row in profile B, whose launches state no scales.
inline constexpr float kScaleB = 0x1p-24F;

/// c of profile B: d * 2^24 of a binary16 d below 4 in magnitude.
LOGOS_DEVICE std::int32_t half_multiplier(std::uint16_t d) {
  const std::uint32_t field = d >> 10 & 31U;
  const std::uint32_t m = (d & 1023U) | (field == 0 ? 0U : 1024U);
  const std::uint32_t c = m << (field == 0 ? 0U : field - 1);
  return static_cast<std::int32_t>((d & 0x8000U) != 0 ? 0U - c : c);
}

/// y of an exact sum: two roundings.
LOGOS_DEVICE float product_value(std::int64_t sum, int exponent, float row_scale) {
  if (exponent == kZeroExponent) return 0.0F;
  return scaled(exponent, __fmul_rn(nearest_float(sum), row_scale));
}

/// An element of the embedding: f32(F(q * c) * D).
LOGOS_DEVICE float embedding_value(std::int32_t q, std::int32_t multiplier, float row_scale) {
  return __fmul_rn(nearest_float(std::int64_t{q} * multiplier), row_scale);
}

/// r of RMSNorm from the sum of squares of n integers with exponent e.
LOGOS_DEVICE float norm_factor(std::int64_t sum_of_squares, int n, int exponent, float epsilon) {
  float square = 0.0F;
  if (exponent != kZeroExponent) {
    const float mean = __fdiv_rn(nearest_float(sum_of_squares), nearest_float(n));
    square = scaled(exponent, scaled(exponent, mean));
  }
  return __fdiv_rn(1.0F, __fsqrt_rn(__fadd_rn(square, epsilon)));
}

LOGOS_DEVICE float normed(float x, float factor, float gain) {
  return __fmul_rn(__fmul_rn(x, factor), gain);
}

// --- 7 elementwise ---------------------------------------------------------------------------

/// z = x + y; below 2^-60: +0.
LOGOS_DEVICE float residual(float x, float y) {
  const float z = __fadd_rn(x, y);
  return magnitude_bits(z) < 0x21800000 ? 0.0F : z;
}

/// exp(x) for x <= 0.
LOGOS_DEVICE float exp_neg(float x) {
  if (x < -87.0F) return 0.0F;
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: the sum's low bits are the nearest integer
  const float t = __fadd_rn(__fmul_rn(x, __uint_as_float(0x3FB8AA3B)), kMagic);
  const std::uint32_t n = __float_as_uint(t) - 0x4B400000;
  const float f = __fadd_rn(t, -kMagic);
  float r = __fadd_rn(x, -__fmul_rn(f, __uint_as_float(0x3F317200)));
  r = __fadd_rn(r, -__fmul_rn(f, __uint_as_float(0x35BFBE8E)));
  float p = __uint_as_float(0x3AB5120C);
  p = __fadd_rn(__fmul_rn(p, r), __uint_as_float(0x3C091D01));
  p = __fadd_rn(__fmul_rn(p, r), __uint_as_float(0x3D2AAC79));
  p = __fadd_rn(__fmul_rn(p, r), __uint_as_float(0x3E2AAA49));
  p = __fadd_rn(__fmul_rn(p, r), __uint_as_float(0x3EFFFFFE));
  const float y = __fadd_rn(__fadd_rn(__fmul_rn(p, __fmul_rn(r, r)), r), 1.0F);
  return __uint_as_float(__float_as_uint(y) + (n << 23));
}

LOGOS_DEVICE float silu(float x) {
  const float e = exp_neg(__uint_as_float(__float_as_uint(x) | 0x80000000));
  const float d = __fadd_rn(1.0F, e);
  return x >= 0.0F ? __fdiv_rn(x, d) : __fdiv_rn(__fmul_rn(x, e), d);
}

/// The rotated pair of (p, r) by the angle with cosine c and sine s (section 6).
LOGOS_DEVICE float2 rotated(float p, float r, float c, float s) {
  return make_float2(__fadd_rn(__fmul_rn(p, c), -__fmul_rn(r, s)),
                     __fadd_rn(__fmul_rn(p, s), __fmul_rn(r, c)));
}

// --- 6 attention -----------------------------------------------------------------------------

/// isq.
LOGOS_DEVICE float inverse_root(int head_columns) {
  return __fdiv_rn(1.0F, __fsqrt_rn(nearest_float(head_columns)));
}

/// s_t of the exact sum I_t.
LOGOS_DEVICE float attention_score(std::int64_t sum, int query_exponent, int key_exponent,
                                   float inverse_root_of_columns) {
  const int e = query_exponent + key_exponent;
  if (query_exponent == kZeroExponent || key_exponent == kZeroExponent || e < -100) return 0.0F;
  return scaled(e, __fmul_rn(nearest_float(sum), inverse_root_of_columns));
}

/// p_t.
LOGOS_DEVICE float probability(float score, float maximum) {
  return exp_neg(__fadd_rn(score, -maximum));
}

/// l_t.
LOGOS_DEVICE std::int32_t probability_integer(float p) { return round_scaled(p, 23); }

/// w_t; `top` is E, the largest value exponent.
LOGOS_DEVICE std::int32_t value_weight(float p, int value_exponent, int top) {
  return value_exponent == kZeroExponent ? 0 : round_scaled(p, 23 + value_exponent - top);
}

/// inv.
LOGOS_DEVICE float inverse_weight_sum(std::int64_t sum) {
  return __fdiv_rn(8388608.0F, nearest_float(sum));
}

/// o_i.
LOGOS_DEVICE float attention_value(std::int64_t sum, int top, float inverse_sum) {
  if (top == kZeroExponent) return 0.0F;
  return scaled(top - 23, __fmul_rn(nearest_float(sum), inverse_sum));
}

}  // namespace logos::cuda
