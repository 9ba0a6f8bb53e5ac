// The tile's arithmetic against the definitions written down in another way: exact binary64 and
// integers where they hold all the digits.
#include "spatial/tile/arithmetic.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "spatial/tile/attention.h"
#include "tests/sim/reference/random_source.h"

namespace logos::spatial {
namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

float random_float(RandomSource& random, int low, int high) {
  const auto field = static_cast<std::uint32_t>(random.between(low, high) + 127) << 23;
  const auto rest = static_cast<std::uint32_t>(random.bits()) & 0x807FFFFFu;
  return std::bit_cast<float>(field | rest);
}

TEST(TileArithmetic, IntegersAreTheNearestTiesToEven) {
  RandomSource random;
  for (int i = 0; i < 20000; ++i) {
    const int s = static_cast<int>(random.between(-30, 60));
    const float x = random_float(random, -s - 30, -s + 30);
    const double exact = std::ldexp(static_cast<double>(x), s);
    EXPECT_EQ(to_integer(x, s), static_cast<std::int64_t>(std::nearbyint(exact))) << x << " " << s;
  }
  for (int i = -20; i <= 20; ++i) {  // ties
    const double tie = i + 0.5;
    EXPECT_EQ(to_integer(static_cast<float>(tie), 0),
              static_cast<std::int64_t>(std::nearbyint(tie)));
  }
  EXPECT_EQ(to_integer(0x1p-140f, 140), 0);  // subnormal
}

TEST(TileArithmetic, QuantizerAgreesWithTheNearestInteger) {
  RandomSource random;
  for (int i = 0; i < 300; ++i) {
    const int top = static_cast<int>(random.between(-62, 42));
    std::vector<float> x(static_cast<std::size_t>(random.between(1, 70)));
    for (auto& value : x) value = random_float(random, std::max(-126, top - 30), top);
    std::vector<std::int16_t> q(x.size());
    const BlockTag tag = quantize(x, q);
    std::uint32_t peak = 0;
    for (const float value : x) peak = std::max(peak, bits(value) & 0x7FFFFFFF);
    EXPECT_EQ(largest_magnitude(x), peak);
    const int exponent = static_cast<int>(peak >> 23) - 127;
    EXPECT_EQ(tag.fault, exponent > 40);
    ASSERT_EQ(tag.exponent, exponent > 40 || exponent < -60 ? -128 : exponent - 14);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto r = tag.exponent == kZeroBlock
                         ? 0
                         : std::clamp<std::int64_t>(to_integer(x[k], -tag.exponent), -32767, 32767);
      ASSERT_EQ(q[k], r);
    }
  }
}

TEST(TileArithmetic, NormFollowsItsFormula) {
  RandomSource random;
  for (const std::size_t n : {1u, 18u, 33u, 288u}) {
    std::vector<float> x(n);
    std::vector<float> gain(n);
    for (auto& value : x) value = random_float(random, -8, 3);
    for (auto& value : gain) value = random_float(random, -2, 1);
    std::vector<std::int16_t> q(n);
    const BlockTag tag = quantize(x, q);
    double sum = 0;
    for (const auto value : q) sum += double{1} * value * value;  // below 2^53: exact
    const float mean = static_cast<float>(sum) / static_cast<float>(n);
    const float power = std::ldexp(1.0f, tag.exponent);
    const float r = 1.0f / std::sqrt(power * (power * mean) + 1e-5f);
    std::vector<float> y(n);
    std::vector<std::int16_t> scratch(n);
    EXPECT_FALSE(rms_norm(x, gain, 1e-5f, y, scratch));
    for (std::size_t i = 0; i < n; ++i) {
      const float scaled = x[i] * r;
      EXPECT_EQ(bits(y[i]), bits(scaled * gain[i]));
    }
  }
}

TEST(TileArithmetic, NormOfZerosIsZeroAndOfInfinityAFault) {
  std::vector<float> x(5, 0.0f);
  const std::vector<float> gain(5, 2.0f);
  std::vector<float> y(5, 1.0f);
  std::vector<std::int16_t> scratch(5);
  EXPECT_FALSE(rms_norm(x, gain, 1e-5f, y, scratch));
  for (const float value : y) EXPECT_EQ(bits(value), 0u);
  x[3] = INFINITY;
  EXPECT_TRUE(rms_norm(x, gain, 1e-5f, y, scratch));
}

TEST(TileArithmetic, ResidualSumsBelowTheLeastAreZero) {
  EXPECT_EQ(bits(residual_sum(0x1p-60f, 0.0f)), bits(0x1p-60f));
  EXPECT_EQ(bits(residual_sum(0x1p-60f, -0x1p-83f)), 0u);
  EXPECT_EQ(bits(residual_sum(-1.0f, 1.0f)), 0u);
  EXPECT_EQ(bits(residual_sum(-0x1.8p-61f, 0.0f)), 0u);
  EXPECT_EQ(bits(residual_sum(1.0f, 2.0f)), bits(3.0f));
}

TEST(TileArithmetic, SumsScaleWithTwoRoundings) {
  const std::vector<std::int64_t> sums = {(std::int64_t{1} << 40) + 1, -3, 0};
  const std::vector<float> scales = {0x1.8p-20f, 0x1p-3f, 1.0f};
  std::vector<float> y(3);
  scale_sums(sums, 4, scales, y);
  EXPECT_EQ(y, (std::vector<float>{0x1.8p24f, -6.0f, 0.0f}));
  EXPECT_EQ(scaled_sum(sums[1], 4, scales[1]), -6.0f);
  scale_sums(sums, kZeroBlock, scales, y);
  for (const float value : y) EXPECT_EQ(bits(value), 0u);
}

TEST(TileArithmetic, RotationTurnsPairs) {
  std::vector<float> x = {1, 2, 3, 4};
  rotate_head(x, std::vector<float>{0.0f, 1.0f}, std::vector<float>{1.0f, 0.0f});
  EXPECT_EQ(x, (std::vector<float>{-3, 2, 1, 4}));
}

TEST(TileAttention, SharesAddUpToTheWhole) {
  RandomSource random;
  const std::size_t columns = 18;
  const std::size_t entries = 23;
  std::vector<std::int16_t> query(columns);
  std::vector<std::int16_t> keys(columns * entries);
  for (auto& value : query) value = static_cast<std::int16_t>(random.between(-32767, 32767));
  for (auto& value : keys) value = static_cast<std::int16_t>(random.between(-32767, 32767));
  std::vector<std::int8_t> exponents(entries);
  for (auto& e : exponents) e = static_cast<std::int8_t>(random.between(-17, -13));
  exponents[4] = kZeroBlock;
  const CacheEntries cache{keys.data(), exponents.data()};
  const float isq = inverse_root(columns);
  EXPECT_EQ(bits(isq), bits(1.0f / std::sqrt(18.0f)));
  std::vector<float> scores(entries);
  scores_of(query, -15, cache, 0, isq, scores);
  float largest = scores[0];
  int exponent = -128;
  for (std::size_t t = 0; t < entries; ++t) {
    largest = std::max(largest, scores[t]);
    exponent = std::max<int>(exponent, exponents[t]);
    std::int64_t product = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      product += std::int64_t{query[i]} * keys[t * columns + i];
    }
    const float s = exponents[t] == kZeroBlock
                        ? 0.0f
                        : std::ldexp(static_cast<float>(product) * isq, -15 + exponents[t]);
    EXPECT_EQ(bits(scores[t]), bits(s));
  }
  std::vector<std::int32_t> weights(entries);
  const std::int64_t sum = weights_of(scores, largest, exponents.data(), exponent, weights);
  EXPECT_EQ(weights[4], 0);
  std::vector<std::int64_t> whole(columns);
  add_weighted(weights, cache, 0, whole);
  std::vector<std::int64_t> parts(columns);
  std::int64_t parts_sum = 0;
  for (const auto& [first, count] : {std::pair{0, 9}, std::pair{9, 14}}) {
    std::vector<float> s(static_cast<std::size_t>(count));
    scores_of(query, -15, cache, first, isq, s);
    std::vector<std::int32_t> w(s.size());
    parts_sum += weights_of(s, largest, exponents.data() + first, exponent, w);
    add_weighted(w, cache, first, parts);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(parts_sum, sum);
  for (std::size_t i = 0; i < columns; ++i) {
    std::int64_t a = 0;
    for (std::size_t t = 0; t < entries; ++t) {
      a += std::int64_t{weights[t]} * keys[t * columns + i];
    }
    EXPECT_EQ(whole[i], a);
  }
  std::vector<float> o(columns);
  attention_of(sum, whole, exponent, o);
  const float inverse = 0x1p23f / static_cast<float>(sum);
  EXPECT_EQ(bits(o[3]), bits(std::ldexp(static_cast<float>(whole[3]) * inverse, exponent - 23)));
  attention_of(sum, whole, kZeroBlock, o);
  EXPECT_EQ(bits(o[3]), 0u);
}

TEST(TileAttention, ScoresTooSmallAreZero) {
  const std::vector<std::int16_t> vector = {100};
  const std::vector<std::int8_t> exponents = {-50};
  std::vector<float> score(1);
  scores_of(vector, -50, {vector.data(), exponents.data()}, 0, 1.0f, score);
  EXPECT_EQ(score[0], std::ldexp(10000.0f, -100));
  scores_of(vector, -51, {vector.data(), exponents.data()}, 0, 1.0f, score);
  EXPECT_EQ(bits(score[0]), 0u);
  scores_of(vector, kZeroBlock, {vector.data(), exponents.data()}, 0, 1.0f, score);
  EXPECT_EQ(bits(score[0]), 0u);
}

}  // namespace
}  // namespace logos::spatial
