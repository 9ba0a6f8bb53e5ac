#include "spatial/tile/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "program/check.h"
#include "sim/weights/store.h"
#include "spatial/tile/clones.h"

namespace logos::spatial {
namespace {

/// To a binary32 y with |y| < 2^22 added and taken off again, this rounds y to the nearest integer,
/// ties to even: in its binade one unit of the last place is 1.
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
constexpr std::int32_t kRounderBits = 0x4B400000;
constexpr float kMost = 32767.0f;

LOGOS_SPATIAL_CLONES
std::uint32_t peak_of(const float* x, std::size_t n) {
  std::uint32_t peak = 0;
  for (std::size_t i = 0; i < n; ++i) peak = std::max(peak, magnitude(x[i]));
  return peak;
}

/// R(x, s) with its clamp, where |x * 2^s| <= 2^15: scaling is exact but where the result is far
/// below a half, and the sum rounds once.
LOGOS_SPATIAL_CLONES
void quantize_by(const float* x, std::size_t n, float factor, std::int16_t* q) {
  for (std::size_t i = 0; i < n; ++i) {
    const float y = std::clamp(x[i] * factor, -kMost, kMost) + kRounder;
    q[i] = static_cast<std::int16_t>(std::bit_cast<std::int32_t>(y) - kRounderBits);
  }
}

LOGOS_SPATIAL_CLONES
std::int64_t sum_of_squares(const std::int16_t* q, std::size_t n) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += q[i] * q[i];  // at most 32767^2: an int32
  return sum;
}

LOGOS_SPATIAL_CLONES
void scale_and_gain(const float* x, const float* gain, std::size_t n, float r, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] * r) * gain[i];
}

LOGOS_SPATIAL_CLONES
void scale_row(const std::int64_t* sums, const float* scales, std::size_t n, float power,
               float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = power * (to_float(sums[i]) * scales[i]);
}

}  // namespace

std::int64_t to_integer(float x, int s) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int field = static_cast<int>((bits >> 23) & 0xFF);
  if (field == 0) return 0;
  const std::int64_t m = (bits & 0x7FFFFF) | 0x800000;  // |x| = m * 2^(field - 150)
  const int shift = field - 150 + s;
  std::int64_t value = 0;
  if (shift >= 0) {
    CHECK(shift < 39);
    value = m << shift;
  } else if (shift >= -25) {
    // Half a unit less one, plus the kept last bit: carries over where more than half is lost, and
    // at a half where the last bit is odd.
    const std::int64_t odd = (m >> -shift) & 1;
    value = (m + (std::int64_t{1} << (-shift - 1)) - 1 + odd) >> -shift;
  }
  return (bits >> 31) != 0 ? -value : value;
}

float exp_neg(float x) {
  if (x < -87.0f) return 0.0f;
  constexpr auto constant = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const float t = x * constant(0x3FB8AA3B) + kRounder;
  const std::uint32_t n = std::bit_cast<std::uint32_t>(t) - std::uint32_t{kRounderBits};
  const float f = t - kRounder;
  const float high = x - f * constant(0x3F317200);
  const float r = high - f * constant(0x35BFBE8E);
  float p = constant(0x3AB5120C);
  for (const std::uint32_t c : {0x3C091D01u, 0x3D2AAC79u, 0x3E2AAA49u, 0x3EFFFFFEu}) {
    p = p * r + constant(c);
  }
  const float y = (p * (r * r) + r) + 1.0f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) + (n << 23));
}

float silu_times(float gate, float up) {
  const float e = exp_neg(-std::abs(gate));
  const float d = 1.0f + e;
  const float silu = gate >= 0.0f ? gate / d : (gate * e) / d;
  return silu * up;
}

std::uint32_t largest_magnitude(std::span<const float> x) { return peak_of(x.data(), x.size()); }

BlockTag quantize_at(std::span<const float> x, std::uint32_t peak, std::span<std::int16_t> q) {
  CHECK(q.size() == x.size());
  const int exponent = static_cast<int>(peak >> 23) - 127;
  if (exponent > 40 || exponent < -60) {
    std::fill(q.begin(), q.end(), std::int16_t{0});
    return {kZeroBlock, exponent > 40};
  }
  quantize_by(x.data(), x.size(), two_to(14 - exponent), q.data());
  return {static_cast<std::int8_t>(exponent - 14), false};
}

BlockTag quantize(std::span<const float> x, std::span<std::int16_t> q) {
  return quantize_at(x, largest_magnitude(x), q);
}

bool rms_norm(std::span<const float> x, std::span<const float> gain, float epsilon,
              std::span<float> y, std::span<std::int16_t> scratch) {
  CHECK(gain.size() == x.size() && y.size() == x.size());
  const BlockTag tag = quantize(x, scratch.first(x.size()));
  float mean_square = 0.0f;
  if (tag.exponent != kZeroBlock) {
    const std::int64_t sum = sum_of_squares(scratch.data(), x.size());
    const float mean = to_float(sum) / to_float(static_cast<std::int64_t>(x.size()));
    mean_square = two_to(tag.exponent) * (two_to(tag.exponent) * mean);
  }
  const float r = 1.0f / std::sqrt(mean_square + epsilon);
  scale_and_gain(x.data(), gain.data(), x.size(), r, y.data());
  return tag.fault;
}

void scale_sums(std::span<const std::int64_t> sums, std::int8_t exponent,
                std::span<const float> scales, std::span<float> y) {
  CHECK(scales.size() == sums.size() && y.size() == sums.size());
  if (exponent == kZeroBlock) {
    std::fill(y.begin(), y.end(), 0.0f);
  } else {
    scale_row(sums.data(), scales.data(), sums.size(), two_to(exponent), y.data());
  }
}

void embed_halves(std::span<const std::int8_t> q, std::span<const std::uint16_t> d,
                  std::span<float> x) {
  CHECK(q.size() >= x.size() && 32 * d.size() >= x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = to_float(std::int64_t{q[i]} * multiplier_of_half(d[i / 32])) * kScaleB;
  }
}

void embed_bytes(std::span<const std::int8_t> q, std::span<const std::uint8_t> c, float scale,
                 std::span<float> x) {
  CHECK(q.size() >= x.size() && 32 * c.size() >= x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = to_float(q[i] * c[i / 32]) * scale;
}

void rotate_head(std::span<float> x, std::span<const float> cosines, std::span<const float> sines) {
  const std::size_t half = x.size() / 2;
  CHECK(cosines.size() == half && sines.size() == half);
  for (std::size_t j = 0; j < half; ++j) {
    const float p = x[j];
    const float r = x[j + half];
    x[j] = p * cosines[j] - r * sines[j];
    x[j + half] = p * sines[j] + r * cosines[j];
  }
}

}  // namespace logos::spatial
