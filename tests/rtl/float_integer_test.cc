#include <cmath>
#include <limits>

#include "Vf32_scale_model.h"
#include "float_conversions.h"

namespace logos {
namespace {

TEST(IntToF32, AgreesAtEveryPowerOfTwoAndTie) {
  ToFloat pipe(2);
  offer_integer(pipe, 0);
  offer_integer(pipe, std::numeric_limits<std::int64_t>::min());
  offer_integer(pipe, std::numeric_limits<std::int64_t>::max());
  for (int bit = 0; bit < 63; ++bit) {
    for (int lower = 0; lower <= bit; ++lower) {
      for (int step = -2; step <= 2; ++step) {
        const std::int64_t i =
            (std::int64_t{1} << bit) + (lower < bit ? std::int64_t{1} << lower : 0) + step;
        offer_integer(pipe, i);
        offer_integer(pipe, -i);
      }
    }
  }
  pipe.drain();
  EXPECT_EQ(pipe.latency(), 6U);
}

TEST(IntToF32, AgreesOnRandomIntegers) { check_random_integers(300'000, 3); }

TEST(IntToF32, ForgetsAtReset) {
  ToFloat pipe(4);
  pipe.reset_drops_what_is_under_way();
  for (std::int64_t i = -100; i <= 100; ++i) offer_integer(pipe, i);
  pipe.drain();
}

TEST(RoundScaled, AgreesOnSpecialOperandsAtEveryShift) {
  Round pipe(1);
  for (const std::uint32_t x : special_operands()) {
    for (int s = -512; s <= 511; ++s) offer_rounded(pipe, x, s);
  }
  pipe.drain();
  EXPECT_EQ(pipe.latency(), 3U);
}

TEST(RoundScaled, AgreesOnRandomOperands) { check_random_rounding(300'000, 2); }

TEST(RoundScaled, KeepsItsSignWhereItSaturates) {
  EXPECT_EQ(rounded_bits(0x40000000, 30), 0x1FFFFFFU);
  EXPECT_EQ(rounded_bits(0xC0000000, 30), 0x2000001U);
  Round pipe(3);
  offer_rounded(pipe, 0x40000000, 30);
  offer_rounded(pipe, 0xC0000000, 30);
  pipe.drain();
}

TEST(RoundScaled, ForgetsAtReset) {
  Round pipe(4);
  pipe.reset_drops_what_is_under_way();
  for (int s = -30; s <= 30; ++s) offer_rounded(pipe, 0x3FC12345, s);
  pipe.drain();
}

/// 2^e * x where both are normal or 0; zero below, infinity above, infinities and NaNs unchanged.
std::uint32_t scaled_bits(std::uint32_t x, int e) {
  const int field = static_cast<int>((x >> 23) & 0xFF);
  const std::uint32_t sign = x & 0x80000000;
  if (field == 255) return x;
  if (field == 0 || field + e < 1) return sign;
  if (field + e > 254) return sign | 0x7F800000;
  return std::bit_cast<std::uint32_t>(std::ldexp(std::bit_cast<float>(x), e));
}

TEST(F32Scale, MovesTheExponentOfEveryOperandByEveryPower) {
  Vf32_scale_model model;
  Random random(1);
  auto operands = special_operands();
  for (int i = 0; i < 500; ++i) operands.push_back(random.bits());
  for (const std::uint32_t x : operands) {
    for (int e = -512; e <= 511; ++e) {
      model.x_i = x;
      model.e_i = static_cast<std::uint16_t>(e & 0x3FF);
      model.eval();
      ASSERT_EQ(model.y_o, scaled_bits(x, e)) << std::hex << x << " by 2^" << std::dec << e;
    }
  }
}

}  // namespace
}  // namespace logos
