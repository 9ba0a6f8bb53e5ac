// Properties of the primitive functions that hold for all inputs, on random and extreme ones.
#include "sim/reference/arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/sim/reference/random_source.h"

namespace logos::reference {
namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(Arithmetic, NearestAgreesWithTheMachinesConversion) {
  RandomSource random;
  for (int i = 0; i < 200000; ++i) {
    const auto wide = static_cast<std::int64_t>(random.bits());
    const std::int64_t value = wide >> random.between(0, 63);
    ASSERT_EQ(bits(nearest_f32(value)), bits(static_cast<float>(value))) << value;
  }
  for (int shift = 0; shift < 63; ++shift) {
    for (std::int64_t around = -3; around <= 3; ++around) {
      const std::int64_t value = (std::int64_t{1} << shift) + around;
      ASSERT_EQ(bits(nearest_f32(value)), bits(static_cast<float>(value))) << value;
      ASSERT_EQ(bits(nearest_f32(-value)), bits(static_cast<float>(-value))) << -value;
    }
  }
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(bits(nearest_f32(least)), bits(-0x1p63f));
  EXPECT_EQ(bits(nearest_f32(least + 1)), bits(-0x1p63f));
}

TEST(Arithmetic, NearestRoundsOnceWhereBinary64WouldRoundTwice) {
  // 2^53 + 2^29 + 1 lies just above a tie of binary32: binary64 drops the 1 and makes it a tie.
  const std::int64_t value = (std::int64_t{1} << 53) + (std::int64_t{1} << 29) + 1;
  const float twice = static_cast<float>(static_cast<double>(value));
  EXPECT_EQ(bits(nearest_f32(value)), bits(0x1p53f) + 1);
  EXPECT_EQ(bits(twice), bits(0x1p53f));
}

TEST(Arithmetic, NearestTakesNoRoundingModeOfTheMachine) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  const volatile std::int64_t value = 16777217;
  const float up = nearest_f32(value);
  std::fesetround(before);
  EXPECT_EQ(bits(up), 0x4B800000u);
}

TEST(Arithmetic, RoundedIsTheNearestIntegerTiesToEven) {
  RandomSource random;
  for (int i = 0; i < 200000; ++i) {
    const auto sign_and_fraction = static_cast<std::uint32_t>(random.bits()) & 0x807FFFFFu;
    const auto field = static_cast<std::uint32_t>(random.between(80, 140)) << 23;
    const float x = std::bit_cast<float>(sign_and_fraction | field);
    const int s = static_cast<int>(random.between(-20, 30));
    const double exact = std::ldexp(static_cast<double>(x), s);
    if (std::fabs(exact) >= 0x1p52) continue;
    ASSERT_EQ(rounded(x, s), static_cast<std::int64_t>(std::nearbyint(exact)))
        << std::hexfloat << x << " s=" << s;
  }
}

TEST(Arithmetic, RoundedDropsSubnormalsAndFarSmallerOnes) {
  EXPECT_EQ(rounded(std::bit_cast<float>(0x007FFFFFu), 126), 0);
  EXPECT_EQ(rounded(std::bit_cast<float>(0x807FFFFFu), 126), 0);
  EXPECT_EQ(rounded(0.5f, 0), 0);
  EXPECT_EQ(rounded(1.5f, 0), 2);
  EXPECT_EQ(rounded(-2.5f, 0), -2);
  EXPECT_EQ(rounded(std::nextafter(0.5f, 1.0f), 0), 1);
  EXPECT_EQ(rounded(1.0f, -100), 0);
  EXPECT_EQ(rounded(1.0f, 23), 1 << 23);
}

TEST(Arithmetic, ExpNegIsWithinTwoUlpAndNeverAboveOne) {
  EXPECT_EQ(bits(exp_neg(0.0f)), bits(1.0f));
  EXPECT_EQ(bits(exp_neg(-0.0f)), bits(1.0f));
  RandomSource random;
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<float>(-random.real(0.0, 87.0));
    const double exact = std::exp(static_cast<double>(x));
    const float y = exp_neg(x);
    ASSERT_LE(y, 1.0f);
    ASSERT_NEAR(static_cast<double>(y) / exact, 1.0, 0x1p-22) << std::hexfloat << x;
  }
}

TEST(Arithmetic, SiluIsNearTheRealFunctionOnBothSides) {
  RandomSource random;
  for (int i = 0; i < 100000; ++i) {
    const auto x = static_cast<float>(random.real(-80.0, 80.0));
    const double exact = static_cast<double>(x) / (1.0 + std::exp(-static_cast<double>(x)));
    ASSERT_NEAR(static_cast<double>(silu(x)), exact, std::fabs(exact) * 0x1p-21 + 1e-37)
        << std::hexfloat << x;
  }
}

TEST(Arithmetic, ResidualDropsWhatIsBelowTwoToTheMinus60) {
  EXPECT_EQ(bits(residual(0x1p-60f, 0.0f)), bits(0x1p-60f));
  EXPECT_EQ(bits(residual(-0x1p-60f, 0.0f)), bits(-0x1p-60f));
  EXPECT_EQ(bits(residual(-0x1.fffffep-61f, 0.0f)), 0u);
  EXPECT_EQ(bits(residual(0x1.fffffep-61f, 0.0f)), 0u);
  EXPECT_EQ(bits(residual(-0.0f, -0.0f)), 0u);
  EXPECT_EQ(bits(residual(1.0f, -1.0f)), 0u);
  EXPECT_EQ(bits(residual(1.0f, 0x1p-23f)), bits(1.0f + 0x1p-23f));
}

TEST(Arithmetic, QuantizerAtAPeakIsTheQuantizerOfTheWholeInParts) {
  RandomSource random;
  for (int i = 0; i < 500; ++i) {
    std::vector<float> x(static_cast<std::size_t>(random.between(1, 300)));
    for (float& value : x) {
      value = static_cast<float>(
          std::ldexp(random.real(-1.0, 1.0), static_cast<int>(random.between(-70, 42))));
    }
    std::vector<std::int16_t> whole(x.size());
    const BlockScale scale = quantize(x, whole);
    const auto cut = static_cast<std::size_t>(random.between(0, static_cast<int>(x.size())));
    const std::span<const float> left(x.data(), cut);
    const std::span<const float> right(x.data() + cut, x.size() - cut);
    const std::uint32_t peak = std::max(peak_of(left), peak_of(right));
    std::vector<std::int16_t> parts(x.size());
    const BlockScale a = quantize_at(left, peak, std::span(parts).first(cut));
    const BlockScale b = quantize_at(right, peak, std::span(parts).subspan(cut));
    ASSERT_EQ(parts, whole);
    ASSERT_EQ(a.exponent, scale.exponent);
    ASSERT_EQ(b.exponent, scale.exponent);
    ASSERT_EQ(a.fault, scale.fault);
  }
}

TEST(Arithmetic, QuantizerStepsAreAtMostHalfAndTheLeastIntegerNeverOccurs) {
  RandomSource random;
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> x(17);
    for (float& value : x) value = static_cast<float>(random.real(-2.0, 2.0));
    std::vector<std::int16_t> q(x.size());
    const BlockScale scale = quantize(x, q);
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_GE(q[k], -32767);
      const double step = std::ldexp(1.0, scale.exponent);
      const double limit = std::abs(q[k]) == 32767 ? 1.0 : 0.5;
      ASSERT_LE(std::fabs(q[k] * step - static_cast<double>(x[k])), limit * step);
    }
  }
}

TEST(Arithmetic, SumsAreTheSameInAnyOrderAndSplitAnywhere) {
  RandomSource random;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t columns = random.between(1, 400);
    std::vector<std::int8_t> q(static_cast<std::size_t>(columns));
    std::vector<std::uint8_t> c(static_cast<std::size_t>((columns + 31) / 32));
    std::vector<std::int16_t> a(q.size());
    for (auto& value : q) value = static_cast<std::int8_t>(random.between(-127, 127));
    for (auto& value : c) value = static_cast<std::uint8_t>(random.between(0, 255));
    for (auto& value : a) value = static_cast<std::int16_t>(random.between(-32767, 32767));
    const std::int64_t whole = exact_sum(q, c, 0, columns, a);

    std::vector<std::size_t> order(q.size());
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random.engine());
    std::int64_t shuffled = 0;
    for (const std::size_t k : order) shuffled += std::int64_t{c[k / 32]} * q[k] * a[k];
    ASSERT_EQ(shuffled, whole);

    std::int64_t split = 0;
    for (std::int64_t begin = 0; begin < columns;) {
      const std::int64_t end = std::min(columns, begin + random.between(1, 70));
      split += exact_sum(q, c, begin, end,
                         std::span(a).subspan(static_cast<std::size_t>(begin),
                                              static_cast<std::size_t>(end - begin)));
      begin = end;
    }
    ASSERT_EQ(split, whole);
  }
}

TEST(Arithmetic, ExtremeSumsStayWithinTheirBounds) {
  const std::int64_t columns = 32768;
  const std::vector<std::int8_t> q(columns, 127);
  const std::vector<std::uint8_t> c(columns / 32, 255);
  const std::vector<std::int16_t> a(columns, -32767);
  EXPECT_EQ(exact_sum(q, c, 0, columns, a), -std::int64_t{255} * 127 * 32767 * columns);
}

TEST(Arithmetic, ScaledSumHasTwoRoundingsAndNoneForAZeroBlock) {
  EXPECT_EQ(bits(scaled_sum(12345, kZeroExponent, 3.0f)), 0u);
  const std::int64_t acc = 123456789012345;
  const float scale = 0x1.234568p-20f;
  const float rounded_acc = nearest_f32(acc);
  EXPECT_EQ(bits(scaled_sum(acc, -14, scale)), bits((rounded_acc * scale) * 0x1p-14f));
}

TEST(Arithmetic, NormOfAZeroRowIsZeroAndOfAnOverflowFaults) {
  const std::vector<float> gain(4, 2.0f);
  std::vector<float> y(4);
  const std::vector<float> zero(4, 0.0f);
  EXPECT_FALSE(rms_norm(zero, gain, 1e-5f, y));
  EXPECT_EQ(y, std::vector<float>(4, 0.0f));
  const std::vector<float> huge = {0x1p41f, 1.0f, 0.0f, 0.0f};
  EXPECT_TRUE(rms_norm(huge, gain, 1e-5f, y));
  const std::vector<float> largest = {0x1.fffffep40f, 1.0f, 0.0f, 0.0f};
  EXPECT_FALSE(rms_norm(largest, gain, 1e-5f, y));
}

TEST(Arithmetic, NormIsNearTheRealFunction) {
  RandomSource random;
  for (int i = 0; i < 500; ++i) {
    const auto n = static_cast<std::size_t>(random.between(1, 200));
    std::vector<float> x(n), gain(n), y(n);
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
      x[k] = static_cast<float>(random.real(-3.0, 3.0));
      gain[k] = static_cast<float>(random.real(0.5, 2.0));
      squares += static_cast<double>(x[k]) * static_cast<double>(x[k]);
    }
    ASSERT_FALSE(rms_norm(x, gain, 1e-5f, y));
    const double r = 1.0 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    for (std::size_t k = 0; k < n; ++k) {
      const double exact = static_cast<double>(x[k]) * r * static_cast<double>(gain[k]);
      ASSERT_NEAR(static_cast<double>(y[k]), exact, 2e-4 * std::fabs(exact) + 1e-12);
    }
  }
}

TEST(Arithmetic, ScoresOfZeroBlocksAndOfFarSmallExponentsAreZero) {
  EXPECT_EQ(bits(score_of(1 << 20, kZeroExponent, 0, 0.5f)), 0u);
  EXPECT_EQ(bits(score_of(1 << 20, 0, kZeroExponent, 0.5f)), 0u);
  EXPECT_EQ(bits(score_of(1 << 20, -51, -50, 0.5f)), 0u);
  EXPECT_EQ(bits(score_of(1 << 20, -50, -50, 0.5f)), bits(0x1p-81f));
}

TEST(Arithmetic, RotationKeepsThePairingOfHalves) {
  std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> cosines = {0, 1};
  const std::vector<float> sines = {1, 0};
  rotate(x, cosines, sines, x);  // pair 0 by a quarter turn, pair 1 not at all
  EXPECT_EQ(x, (std::vector<float>{-3, 2, 1, 4}));
}

}  // namespace
}  // namespace logos::reference
