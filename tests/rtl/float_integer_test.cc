#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "Vf32_scale_model.h"
#include "Vint_to_f32_model.h"
#include "Vround_scaled_model.h"
#include "float_operands.h"
#include "float_pipe.h"
#include "sim/reference/arithmetic.h"

namespace logos {
namespace {

using ToFloat = FloatPipe<Vint_to_f32_model>;
using Round = FloatPipe<Vround_scaled_model>;

void offer_integer(ToFloat& pipe, std::int64_t i) {
  const auto set = [](Vint_to_f32_model& model, std::uint64_t a, std::uint64_t) { model.i_i = a; };
  pipe.offer(set, static_cast<std::uint64_t>(i), 0, canonical_bits(reference::nearest_f32(i)));
}

TEST(IntToF32, GivesTheKnownAnswers) {
  std::ifstream file(std::string(LOGOS_SHARED_DIR) + "/golden/f_i64.json");
  const auto cases = nlohmann::json::parse(file).at("cases");
  ASSERT_GT(cases.size(), 20U);
  const auto set = [](Vint_to_f32_model& model, std::uint64_t a, std::uint64_t) { model.i_i = a; };
  ToFloat pipe(1);
  for (const auto& known : cases) {
    const std::int64_t i = std::stoll(known.at(0).get<std::string>());
    const auto bits =
        static_cast<std::uint32_t>(std::stoul(known.at(1).get<std::string>(), nullptr, 16));
    pipe.offer(set, static_cast<std::uint64_t>(i), 0, bits);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), cases.size());
}

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
}

TEST(IntToF32, AgreesOnRandomIntegers) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  ToFloat pipe(kSeed);
  for (int n = 0; n < 300'000 && !pipe.failed(); ++n) {
    std::uint64_t bits = random.next();
    if (random.below(4) == 0) bits &= ~std::uint64_t{0} << random.below(64);  // ties
    if (random.below(4) == 0) bits |= (std::uint64_t{1} << random.below(40)) - 1;
    offer_integer(pipe, static_cast<std::int64_t>(bits) >> random.below(64));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), 300'000U);
}

TEST(IntToF32, ForgetsAtReset) { ToFloat(4).reset_drops_what_is_under_way(); }

/// R(x, s) as the unit gives it: beyond 25 bits the largest magnitude, with x's sign.
std::uint32_t rounded_bits(std::uint32_t x, int s) {
  constexpr std::int64_t kLargest = (1 << 25) - 1;
  const int field = static_cast<int>((x >> 23) & 0xFF);
  std::int64_t q = 0;
  if (field != 0 && field - 150 + s > 1) {
    q = (x >> 31) != 0 ? -kLargest : kLargest;
  } else if (field != 0) {
    q = reference::rounded(std::bit_cast<float>(x), s);
  }
  return static_cast<std::uint32_t>(q) & 0x3FFFFFF;
}

void offer_rounded(Round& pipe, std::uint32_t x, int s) {
  const auto set = [](Vround_scaled_model& model, std::uint64_t a, std::uint64_t b) {
    model.x_i = static_cast<std::uint32_t>(a);
    model.s_i = static_cast<std::uint16_t>(b & 0x3FF);
  };
  pipe.offer(set, x, static_cast<std::uint64_t>(s), rounded_bits(x, s));
}

TEST(RoundScaled, AgreesOnSpecialOperandsAtEveryShift) {
  Round pipe(1);
  for (const std::uint32_t x : special_operands()) {
    for (int s = -512; s <= 511; ++s) offer_rounded(pipe, x, s);
  }
  pipe.drain();
}

TEST(RoundScaled, AgreesOnRandomOperands) {
  constexpr std::uint64_t kSeed = 2;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  Round pipe(kSeed);
  for (int n = 0; n < 300'000 && !pipe.failed(); ++n) {
    const std::uint32_t x = random.below(2) != 0 ? random.bits() : sparse(random);
    const int field = static_cast<int>((x >> 23) & 0xFF);
    // From a shift to the right that leaves nothing to one that saturates; or any.
    const int s =
        random.below(8) == 0 ? random.between(-512, 511) : 150 - field - random.between(-4, 28);
    offer_rounded(pipe, x, s);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), 300'000U);
}

TEST(RoundScaled, KeepsItsSignWhereItSaturates) {
  EXPECT_EQ(rounded_bits(0x40000000, 30), 0x1FFFFFFU);
  EXPECT_EQ(rounded_bits(0xC0000000, 30), 0x2000001U);
  Round pipe(3);
  offer_rounded(pipe, 0x40000000, 30);
  offer_rounded(pipe, 0xC0000000, 30);
  pipe.drain();
}

TEST(RoundScaled, ForgetsAtReset) { Round(4).reset_drops_what_is_under_way(); }

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
