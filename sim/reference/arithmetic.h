#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "program/check.h"

/// The scalar arithmetic of OFA-1 (arithmetic.md; the numbers are its sections). Every function is
/// the definition written down; nothing here is shared with a lane.
namespace logos::reference {

/// `ZE`: the exponent of a block that is all zero (section 1).
inline constexpr std::int8_t kZeroExponent = -128;

/// EXP(x): the biased exponent field - 127 (section 1).
inline int exponent_of(std::uint32_t bits) { return static_cast<int>((bits >> 23) & 0xFF) - 127; }

/// The magnitude's bits: those of a larger finite |x| are the larger unsigned number (section 2).
inline std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFF;
}

/// 2^e as binary32, for e in [-126, 127].
inline float power_of_two(int e) {
  CHECK(e >= -126 && e <= 127);
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

/// 2^e*x, exact where the result is normal (section 1).
inline float scaled_by_power(float x, int e) { return power_of_two(e) * x; }

/// R(x,s): the integer nearest to x*2^s, ties to even (section 1). |x*2^s| stays below 2^62.
inline std::int64_t rounded(float x, int s) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7F800000) == 0) return 0;  // zero or subnormal
  const std::int64_t m = (bits & 0x7FFFFF) | 0x800000;
  const int n = 23 - exponent_of(bits) - s;
  std::int64_t q = 0;
  if (n > 25) {
    q = 0;
  } else if (n > 0) {
    q = m >> n;
    const std::int64_t remainder = m & ((std::int64_t{1} << n) - 1);
    const std::int64_t half = std::int64_t{1} << (n - 1);
    if (remainder > half || (remainder == half && (q & 1) != 0)) ++q;
  } else {
    CHECK(n > -39);
    q = m << -n;
  }
  return (bits >> 31) != 0 ? -q : q;
}

/// F(i): the binary32 nearest to an integer, ties to even, one rounding (section 1). On the bits,
/// so that no rounding mode and no conversion of the machine takes part.
inline float nearest_f32(std::int64_t i) {
  if (i == 0) return 0.0f;
  const std::uint64_t u =
      i < 0 ? ~static_cast<std::uint64_t>(i) + 1 : static_cast<std::uint64_t>(i);
  const int width = 64 - std::countl_zero(u);
  std::uint32_t m = 0;  // 24 bits, or 2^24 after rounding up: the carry then enters the exponent
  if (width <= 24) {
    m = static_cast<std::uint32_t>(u << (24 - width));
  } else {
    const int n = width - 24;
    m = static_cast<std::uint32_t>(u >> n);
    const std::uint64_t remainder = u & ((std::uint64_t{1} << n) - 1);
    const std::uint64_t half = std::uint64_t{1} << (n - 1);
    if (remainder > half || (remainder == half && (m & 1) != 0)) ++m;
  }
  const std::uint32_t sign = i < 0 ? 0x80000000u : 0;
  const std::uint32_t exponent = static_cast<std::uint32_t>(width - 1 + 127) << 23;
  return std::bit_cast<float>(sign | (exponent + (m - 0x800000)));
}

/// exp(x) for x <= 0 (section 7).
inline float exp_neg(float x) {
  if (x < -87.0f) return 0.0f;
  const float t = x * std::bit_cast<float>(0x3FB8AA3Bu) + 12582912.0f;
  const auto n = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(t) - 0x4B400000u);
  const float f = t - 12582912.0f;
  float r = x - f * std::bit_cast<float>(0x3F317200u);
  r = r - f * std::bit_cast<float>(0x35BFBE8Eu);
  float p = std::bit_cast<float>(0x3AB5120Cu);    // C6
  p = p * r + std::bit_cast<float>(0x3C091D01u);  // C5
  p = p * r + std::bit_cast<float>(0x3D2AAC79u);  // C4
  p = p * r + std::bit_cast<float>(0x3E2AAA49u);  // C3
  p = p * r + std::bit_cast<float>(0x3EFFFFFEu);  // C2
  const float y = (p * (r * r) + r) + 1.0f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) +
                              (static_cast<std::uint32_t>(n) << 23));
}

/// SiLU(x) (section 7).
inline float silu(float x) {
  const float e = exp_neg(-std::bit_cast<float>(magnitude_bits(x)));
  const float d = 1.0f + e;
  return x >= 0.0f ? x / d : (x * e) / d;
}

/// The residual sum: a result below 2^-60 is +0 (section 7).
inline float residual(float x, float y) {
  const float z = x + y;
  return magnitude_bits(z) < 0x21800000u ? 0.0f : z;  // 0x21800000 is 2^-60
}

/// max_i of the magnitudes' bits of a block; 0 for an empty one (section 2).
std::uint32_t peak_of(std::span<const float> x);

/// What the quantizer says of a block beside its integers.
struct BlockScale {
  std::int8_t exponent = kZeroExponent;
  bool fault = false;
};

/// Q16 of a block whose largest magnitude has the bits `peak` (section 2).
BlockScale quantize_at(std::span<const float> x, std::uint32_t peak, std::span<std::int16_t> q);
/// Q16 (section 2).
BlockScale quantize(std::span<const float> x, std::span<std::int16_t> q);

/// y of an exact sum: 2^e * f32(F(acc) * D), +0 where e is ZE (section 4).
inline float scaled_sum(std::int64_t acc, std::int8_t exponent, float scale) {
  if (exponent == kZeroExponent) return 0.0f;
  return scaled_by_power(nearest_f32(acc) * scale, exponent);
}

/// acc = sum over the columns [begin, end) of c*q*a, group by group of 32 (section 4). `q` and `c`
/// are a whole row of a matrix, `a` the columns of the share.
std::int64_t exact_sum(std::span<const std::int8_t> q, std::span<const std::uint8_t> c,
                       std::int64_t begin, std::int64_t end, std::span<const std::int16_t> a);

/// x_i = f32(F(q*c) * D) of a row of the embedding (section 4).
void embedding_row(std::span<const std::int8_t> q, std::span<const std::uint8_t> c, float scale,
                   std::span<float> x);
/// The same of profile B: a binary16 d a group (section GGUF).
void embedding_row(std::span<const std::int8_t> q, std::span<const std::uint16_t> halves,
                   std::span<float> x);

/// RMSNorm of a row or a head; says whether its quantizer raised FAULT (section 5). `y` may be `x`.
bool rms_norm(std::span<const float> x, std::span<const float> gain, float epsilon,
              std::span<float> y);

/// Rotates one head: pairs x[j] with x[j + size/2] (section 6). `y` may be `x`.
void rotate(std::span<const float> x, std::span<const float> cosines, std::span<const float> sines,
            std::span<float> y);

/// 1/sqrt(head columns), two roundings (section 6).
float inverse_root(std::int64_t head_columns);

/// s_t of an exact product I of a query and a key (section 6).
inline float score_of(std::int64_t product, std::int8_t query_exponent, std::int8_t key_exponent,
                      float isq) {
  const int e = query_exponent + key_exponent;
  if (query_exponent == kZeroExponent || key_exponent == kZeroExponent || e < -100) return 0.0f;
  return scaled_by_power(nearest_f32(product) * isq, e);
}

}  // namespace logos::reference
