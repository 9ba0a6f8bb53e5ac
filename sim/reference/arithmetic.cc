#include "sim/reference/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "sim/weights/store.h"

namespace logos::reference {

std::uint32_t peak_of(std::span<const float> x) {
  std::uint32_t peak = 0;
  for (const float value : x) peak = std::max(peak, magnitude_bits(value));
  return peak;
}

BlockScale quantize_at(std::span<const float> x, std::uint32_t peak, std::span<std::int16_t> q) {
  CHECK(q.size() == x.size());
  const int exponent = exponent_of(peak);
  if (exponent > 40 || exponent < -60) {
    std::fill(q.begin(), q.end(), std::int16_t{0});
    return {kZeroExponent, exponent > 40};
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t value = rounded(x[i], 14 - exponent);
    q[i] = static_cast<std::int16_t>(std::clamp<std::int64_t>(value, -32767, 32767));
  }
  return {static_cast<std::int8_t>(exponent - 14), false};
}

BlockScale quantize(std::span<const float> x, std::span<std::int16_t> q) {
  return quantize_at(x, peak_of(x), q);
}

std::int64_t exact_sum(std::span<const std::int8_t> q, std::span<const std::uint8_t> c,
                       std::int64_t begin, std::int64_t end, std::span<const std::int16_t> a) {
  constexpr std::int64_t kColumnsOfGroup = 32;
  CHECK(static_cast<std::int64_t>(a.size()) == end - begin);
  std::int64_t acc = 0;
  for (std::int64_t k = begin; k < end;) {
    const std::int64_t group = k / kColumnsOfGroup;
    const std::int64_t stop = std::min(end, (group + 1) * kColumnsOfGroup);
    std::int32_t sum = 0;  // |sum| < 2^27 (section 8)
    for (; k < stop; ++k) {
      sum += std::int32_t{q[static_cast<std::size_t>(k)]} *
             std::int32_t{a[static_cast<std::size_t>(k - begin)]};
    }
    acc += std::int64_t{c[static_cast<std::size_t>(group)]} * sum;
  }
  return acc;
}

void embedding_row(std::span<const std::int8_t> q, std::span<const std::uint8_t> c, float scale,
                   std::span<float> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = nearest_f32(std::int64_t{q[i]} * std::int64_t{c[i / 32]}) * scale;
  }
}

void embedding_row(std::span<const std::int8_t> q, std::span<const std::uint16_t> halves,
                   std::span<float> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t c = multiplier_of_half(halves[i / 32]);
    x[i] = nearest_f32(std::int64_t{q[i]} * c) * kScaleB;
  }
}

bool rms_norm(std::span<const float> x, std::span<const float> gain, float epsilon,
              std::span<float> y) {
  CHECK(gain.size() == x.size() && y.size() == x.size());
  const std::uint32_t peak = peak_of(x);
  const int exponent = exponent_of(peak);
  const bool fault = exponent > 40;
  float mean_square = 0.0f;  // +0 where Q16 gives ZE
  if (exponent <= 40 && exponent >= -60) {
    std::int64_t sum = 0;  // below 2^45 to 32,768 columns (section 8)
    for (const float value : x) {
      const std::int64_t q = std::clamp<std::int64_t>(rounded(value, 14 - exponent), -32767, 32767);
      sum += q * q;
    }
    const float mean = nearest_f32(sum) / nearest_f32(static_cast<std::int64_t>(x.size()));
    const int e = exponent - 14;
    mean_square = scaled_by_power(scaled_by_power(mean, e), e);
  }
  const float r = 1.0f / std::sqrt(mean_square + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] * r) * gain[i];
  return fault;
}

void rotate(std::span<const float> x, std::span<const float> cosines, std::span<const float> sines,
            std::span<float> y) {
  const std::size_t pairs = x.size() / 2;
  CHECK(cosines.size() == pairs && sines.size() == pairs && y.size() == x.size());
  for (std::size_t j = 0; j < pairs; ++j) {
    const float p = x[j];
    const float r = x[j + pairs];
    y[j] = p * cosines[j] - r * sines[j];
    y[j + pairs] = p * sines[j] + r * cosines[j];
  }
}

float inverse_root(std::int64_t head_columns) {
  return 1.0f / std::sqrt(nearest_f32(head_columns));
}

}  // namespace logos::reference
