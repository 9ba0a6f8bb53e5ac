#include "sim/weights/quantizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

/// The rule once more, word for word, with the library's rounding.
QuantizedRow as_written(const std::vector<float>& w) {
  QuantizedRow row;
  const std::size_t groups = (w.size() + 31) / 32;
  row.multipliers.assign(groups, 0);
  row.q.assign(w.size(), 0);
  double peak = 0;
  for (const float value : w) peak = std::fmax(peak, std::fabs(static_cast<double>(value)));
  row.scale = static_cast<float>(peak / 32385.0);
  if (static_cast<double>(row.scale) < std::ldexp(1, -40)) {
    row.scale = 0;
    return row;
  }
  const auto d = static_cast<double>(row.scale);
  for (std::size_t g = 0; g < groups; ++g) {
    double most = 0;
    const std::size_t end = std::min(w.size(), 32 * g + 32);
    for (std::size_t i = 32 * g; i < end; ++i) {
      most = std::fmax(most, std::fabs(static_cast<double>(w[i])));
    }
    const double c = std::fmin(std::fmax(std::ceil(most / (127.0 * d) - 1e-6), 0.0), 255.0);
    row.multipliers[g] = static_cast<std::uint8_t>(c);
    for (std::size_t i = 32 * g; i < end && c > 0; ++i) {
      const double level = std::nearbyint(static_cast<double>(w[i]) / (c * d));
      row.q[i] = static_cast<std::int8_t>(std::fmin(std::fmax(level, -127.0), 127.0));
    }
  }
  return row;
}

TEST(Quantizer, TheSlackIsTheStatedBinary64) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(1e-6), 0x3EB0C6F7A0B5ED8DULL);
}

TEST(Quantizer, RandomRowsKeepTheRuleItsBoundsAndItsError) {
  const unsigned seed = 20240607;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 400; ++round) {
    std::vector<float> w(1 + random() % 200);
    const float size = std::ldexp(1.0F, static_cast<int>(random() % 40) - 30);
    for (float& value : w) {
      value = normal(random) * size;
      if (random() % 8 == 0) value *= 0x1p-9F;
      if (random() % 3 == 0) {  // few significant bits: ties and whole multiples occur
        value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFF00000U);
      }
    }
    const QuantizedRow got = quantize_row(w, "w");
    const QuantizedRow want = as_written(w);
    ASSERT_EQ(got.scale, want.scale) << round;
    ASSERT_EQ(got.multipliers, want.multipliers) << round;
    ASSERT_EQ(got.q, want.q) << round;
    const double rest = got.scale == 0 ? 32385 * 0x1p-40 : static_cast<double>(got.scale) / 100;
    for (std::size_t i = 0; i < w.size(); ++i) {
      ASSERT_GE(got.q[i], -127);
      const double step =
          static_cast<double>(got.multipliers[i / 32]) * static_cast<double>(got.scale);
      const double error =
          std::fabs(static_cast<double>(w[i]) - static_cast<double>(got.q[i]) * step);
      ASSERT_LE(error, step / 2 + rest) << round << " " << i;
    }
  }
}

TEST(Quantizer, ZeroAndTinyRowsAreAllZero) {
  for (const float value : {0.0F, -0.0F, 1e-45F, 0x1.fa03fep-26F /* just below 32385 * 2^-40 */}) {
    const QuantizedRow row = quantize_row(std::vector<float>(40, value), "w");
    EXPECT_EQ(row.scale, 0) << value;
    EXPECT_THAT(row.multipliers, Each(0));
    EXPECT_THAT(row.q, Each(0));
  }
}

TEST(Quantizer, TheLeastScaleIsTwoToTheMinus40) {
  const float least = 32385.0F * 0x1p-40F;
  EXPECT_EQ(quantize_row(std::vector<float>{least}, "w").scale, 0x1p-40F);
  EXPECT_EQ(quantize_row(std::vector<float>{std::nextafter(least, 0.0F)}, "w").scale, 0);
}

TEST(Quantizer, TheGreatestScaleIsTwoToThe20) {
  const float greatest = 32385.0F * 0x1p20F;
  EXPECT_EQ(quantize_row(std::vector<float>{-greatest, 1}, "w").scale, 0x1p20F);
  EXPECT_THAT(
      error_of([&] { quantize_row(std::vector<float>{greatest * 1.0001F}, "f: tensor w"); }),
      AllOf(HasSubstr("f: tensor w"), HasSubstr("want at most 2^20")));
  EXPECT_THAT(
      error_of([&] { quantize_row(std::vector<float>{std::numeric_limits<float>::max()}, "w"); }),
      HasSubstr("at most 2^20"));
}

TEST(Quantizer, ValuesThatAreNotFiniteAreRefusedWithTheirPlace) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> w(100, 1.0F);
    w[77] = bad;
    EXPECT_THAT(error_of([&] { quantize_row(w, "f: tensor w"); }),
                AllOf(HasSubstr("f: tensor w"), HasSubstr("column 77"), HasSubstr("finite")));
  }
}

}  // namespace
}  // namespace logos
