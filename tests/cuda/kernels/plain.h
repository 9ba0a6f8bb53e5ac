#pragma once

// OFA-1 once more, in the plainest loops, straight from design/arithmetic.md: what the kernels are
// held against. Integers are rounded through binary64 (which holds them exactly), powers of two go
// through ldexp; nothing of the lane's own arithmetic is used.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace logos::cuda::testing {

inline constexpr int kZe = -128;

inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float of_bits(std::uint32_t b) { return std::bit_cast<float>(b); }
inline std::uint32_t magnitude(float x) { return bits(x) & 0x7FFFFFFF; }

/// R(x, s).
inline std::int64_t r(float x, int s) {
  if (magnitude(x) < 0x00800000) return 0;  // subnormal
  return static_cast<std::int64_t>(std::nearbyint(std::ldexp(static_cast<double>(x), s)));
}
/// F(i): binary32 nearest to i. A conversion of the language rounds once.
inline float f(std::int64_t i) { return static_cast<float>(i); }
inline float power(float x, int e) { return std::ldexp(x, e); }

struct PlainBlock {
  std::vector<int> q;
  int e = kZe;
  bool fault = false;
};
inline PlainBlock q16_at(std::span<const float> x, std::uint32_t peak) {
  PlainBlock block;
  block.q.assign(x.size(), 0);
  const int exponent = static_cast<int>(peak >> 23) - 127;
  block.fault = exponent > 40;
  if (exponent > 40 || exponent < -60) return block;
  for (std::size_t i = 0; i < x.size(); ++i) {
    block.q[i] = static_cast<int>(std::clamp<std::int64_t>(r(x[i], 14 - exponent), -32767, 32767));
  }
  block.e = exponent - 14;
  return block;
}
inline std::uint32_t peak_of(std::span<const float> x) {
  std::uint32_t peak = 0;
  for (const float value : x) peak = std::max(peak, magnitude(value));
  return peak;
}
inline PlainBlock q16(std::span<const float> x) { return q16_at(x, peak_of(x)); }

struct PlainNorm {
  std::vector<float> y;
  bool fault = false;
};
inline PlainNorm plain_norm(std::span<const float> x, std::span<const float> gain, float eps) {
  const PlainBlock block = q16(x);
  std::int64_t sum = 0;
  for (const int q : block.q) sum += std::int64_t{q} * q;
  const float mean = f(sum) / f(static_cast<std::int64_t>(x.size()));
  const float ss = block.e == kZe ? 0.0F : power(power(mean, block.e), block.e);
  const float factor = 1.0F / std::sqrt(ss + eps);
  PlainNorm norm{std::vector<float>(x.size()), block.fault};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float scaled = x[i] * factor;
    norm.y[i] = scaled * gain[i];
  }
  return norm;
}

inline float plain_exp(float x) {
  if (x < -87.0F) return 0.0F;
  const float scaled = x * of_bits(0x3FB8AA3B);
  const float t = scaled + 12582912.0F;
  const std::uint32_t n = bits(t) - 0x4B400000;
  const float whole = t - 12582912.0F;
  const float high = whole * of_bits(0x3F317200);
  float rest = x - high;
  const float low = whole * of_bits(0x35BFBE8E);
  rest = rest - low;
  float p = of_bits(0x3AB5120C);
  for (const std::uint32_t c : {0x3C091D01U, 0x3D2AAC79U, 0x3E2AAA49U, 0x3EFFFFFEU}) {
    const float product = p * rest;
    p = product + of_bits(c);
  }
  const float square = rest * rest;
  const float tail = p * square;
  const float sum = tail + rest;
  const float y = sum + 1.0F;
  return of_bits(bits(y) + (n << 23));
}
inline float plain_silu(float x) {
  const float e = plain_exp(-std::fabs(x));
  const float d = 1.0F + e;
  if (x >= 0) return x / d;
  const float product = x * e;
  return product / d;
}
inline float plain_residual(float x, float y) {
  const float z = x + y;
  return std::fabs(z) < std::ldexp(1.0F, -60) ? 0.0F : z;
}
inline float plain_product(std::int64_t sum, int e, float scale) {
  if (e == kZe) return 0.0F;
  const float y = f(sum) * scale;
  return power(y, e);
}

/// Random numbers by a printed seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Normal numbers over many octaves, now and then zero or subnormal.
  float number(int low_exponent = -20, int high_exponent = 10) {
    const auto kind = whole(0, 30);
    if (kind == 0) return 0.0F;
    if (kind == 1) return of_bits(static_cast<std::uint32_t>(whole(1, 0x7FFFFF)));
    const float mantissa = 1.0F + static_cast<float>(whole(0, (1 << 23) - 1)) * 0x1p-23F;
    const float x = std::ldexp(mantissa, static_cast<int>(whole(low_exponent, high_exponent)));
    return whole(0, 1) == 0 ? x : -x;
  }
  std::vector<float> numbers(std::size_t count, int low_exponent = -20, int high_exponent = 10) {
    std::vector<float> values(count);
    for (float& value : values) value = number(low_exponent, high_exponent);
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace logos::cuda::testing
