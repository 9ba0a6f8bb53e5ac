#include "cuda/kernels/arithmetic.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda/host/run.h"
#include "tests/cuda/host/test_kernels.h"

namespace logos::cuda {
namespace {

nlohmann::json golden(const std::string& name) {
  std::ifstream in(std::string(LOGOS_SHARED_DIR) + "/golden/" + name);
  return nlohmann::json::parse(in);
}

std::uint32_t bits_of(const nlohmann::json& hex) {
  return static_cast<std::uint32_t>(std::stoul(hex.get<std::string>(), nullptr, 16));
}

float float_of(const nlohmann::json& hex) { return std::bit_cast<float>(bits_of(hex)); }

TEST(ArithmeticGolden, ExpNegAndSilu) {
  const auto file = golden("exp_silu.json");
  ASSERT_GT(file["exp_neg"].size(), 200U);
  for (const auto& pair : file["exp_neg"]) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(exp_neg(float_of(pair[0]))), bits_of(pair[1]))
        << pair[0];
  }
  ASSERT_GT(file["silu"].size(), 200U);
  for (const auto& pair : file["silu"]) {
    const std::uint32_t got = std::bit_cast<std::uint32_t>(silu(float_of(pair[0])));
    EXPECT_EQ(got, bits_of(pair[1])) << pair[0];
  }
}

TEST(ArithmeticGolden, NearestFloat) {
  const auto file = golden("f_i64.json");
  ASSERT_GT(file["cases"].size(), 50U);
  for (const auto& item : file["cases"]) {
    const long long i = std::stoll(item[0].get<std::string>());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(nearest_float(i)), bits_of(item[1])) << item[0];
  }
}

TEST(ArithmeticGolden, BlockQuantizer) {
  const auto file = golden("q16.json");
  ASSERT_GT(file["cases"].size(), 50U);
  for (const auto& item : file["cases"]) {
    std::uint32_t peak = 0;
    for (const auto& x : item["x"]) peak = std::max(peak, magnitude_bits(float_of(x)));
    const BlockScale scale = block_scale(peak);
    EXPECT_EQ(scale.exponent, item["e"].get<int>()) << item["remark"];
    EXPECT_EQ(scale.fault, item["fault"].get<bool>()) << item["remark"];
    for (std::size_t i = 0; i < item["x"].size(); ++i) {
      EXPECT_EQ(quantized(float_of(item["x"][i]), scale), item["q"][i].get<int>())
          << item["remark"];
    }
  }
}

/// R(x, s) by exact arithmetic in binary64 with its own nearest-even.
std::int32_t rounded_by_double(float x, int s) {
  if (std::fpclassify(x) == FP_SUBNORMAL) return 0;
  return static_cast<std::int32_t>(std::nearbyint(std::ldexp(double{x}, s)));
}

TEST(Arithmetic, RoundScaledIsTheNearestIntegerTiesToEven) {
  std::mt19937 random(11);
  for (int i = 0; i < 200'000; ++i) {
    const int s = static_cast<int>(random() % 120) - 60;
    // An exponent that makes |x * 2^s| lie in 2^-6 … 2^29, few mantissa bits, so that ties occur.
    const int exponent = static_cast<int>(random() % 35) - 6 - s;
    const std::uint32_t mask = 0xFFFFFFFF << (random() % 24);
    const std::uint32_t bits = (static_cast<std::uint32_t>(exponent + 127) << 23) |
                               (static_cast<std::uint32_t>(random()) & 0x7FFFFF & mask) |
                               (static_cast<std::uint32_t>(random()) << 31);
    const float x = std::bit_cast<float>(bits);
    ASSERT_EQ(round_scaled(x, s), rounded_by_double(x, s)) << bits << " " << s;
  }
  EXPECT_EQ(round_scaled(0.0F, 14), 0);
  EXPECT_EQ(round_scaled(std::numeric_limits<float>::denorm_min(), 150), 0);
  EXPECT_EQ(round_scaled(0x1p-61F, 14), 0);
}

TEST(Arithmetic, ScalingIsExact) {
  for (int e = -100; e <= 100; ++e) EXPECT_EQ(scaled(e, 1.5F), std::ldexp(1.5F, e));
}

TEST(Arithmetic, OrderedBitsKeepTheOrderOfNumbers) {
  const std::vector<float> ascending = {-3e38F, -2.0F,     -1.5F, -0x1p-120F,
                                        0.0F,   0x1p-120F, 1.0F,  7e9F};
  for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
    EXPECT_LT(ordered_bits(ascending[i]), ordered_bits(ascending[i + 1]));
    EXPECT_EQ(from_ordered_bits(ordered_bits(ascending[i])), ascending[i]);
  }
}

TEST(Arithmetic, ResidualFlushesWhatIsBelowTwoToTheMinus60) {
  EXPECT_EQ(residual(0x1p-60F, 0.0F), 0x1p-60F);
  const float below = std::nextafter(0x1p-60F, 0.0F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(residual(-below, 0.0F)), 0U);
  EXPECT_EQ(residual(1.0F, -1.0F), 0.0F);
}

TEST(Arithmetic, ZeroBlocksGivePlusZero) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(product_value(-5, kZeroExponent, 1.0F)), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(attention_score(-5, kZeroExponent, 0, 1.0F)), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(attention_score(-5, 0, kZeroExponent, 1.0F)), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(attention_score(-5, -60, -41, 1.0F)), 0U);
  EXPECT_EQ(attention_score(-5, -60, -40, 1.0F), -0x5p-100F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(attention_value(-5, kZeroExponent, 1.0F)), 0U);
  EXPECT_EQ(value_weight(1.0F, kZeroExponent, 3), 0);
  EXPECT_EQ(norm_factor(7, 7, kZeroExponent, 0.25F), 2.0F);
}

TEST(Arithmetic, FormulasOfTheDocument) {
  EXPECT_EQ(product_value(3, -14, 0.5F), 0x3p-15F);
  EXPECT_EQ(embedding_value(-127, 255, 0.5F), -127.0F * 255 / 2);
  EXPECT_EQ(norm_factor(4 * 16, 4, -2, 0.0F), 1.0F);
  EXPECT_EQ(inverse_root(64), 0.125F);
  EXPECT_EQ(probability(-3.0F, -3.0F), 1.0F);
  EXPECT_EQ(probability_integer(1.0F), 1 << 23);
  EXPECT_EQ(value_weight(1.0F, -4, -2), 1 << 21);
  EXPECT_EQ(inverse_weight_sum(1 << 24), 0.5F);
  EXPECT_EQ(attention_value(3 << 23, 1, 1.0F), 6.0F);
  EXPECT_EQ(256 * high_byte(-300) + low_byte(-300), -300);
  EXPECT_EQ(256 * high_byte(32767) + low_byte(32767), 32767);
  const float2 pair = rotated(3.0F, 4.0F, 0.0F, 1.0F);
  EXPECT_EQ(pair.x, -4.0F);
  EXPECT_EQ(pair.y, 3.0F);
}

TEST(Arithmetic, AKernelGivesTheBitsOfItsFunctions) {
  std::mt19937 random(12);
  constexpr int kCount = 300;
  std::vector<float> x(kCount);
  for (float& value : x) value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0F, -8);
  std::vector<float> out(8 * kCount);
  host::Executor executor;
  launch(executor, "test_elements", {{3}, {128}, 0}, &test_elements,
         ElementArguments{x.data(), out.data(), kCount});
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(out[i], silu(x[i]));
    EXPECT_EQ(out[2 * kCount + i], residual(x[i], 1.0F));
  }
}

}  // namespace
}  // namespace logos::cuda
