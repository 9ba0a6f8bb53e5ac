#include "float_curve_reference.h"

namespace logos {
namespace {

TEST(ExpNeg, AgreesOnSpecialOperandsUpToZero) {
  ExpPipe pipe(1);
  offer_exp(pipe, 0);
  for (const std::uint32_t x : special_operands()) offer_exp(pipe, x | 0x80000000);
  pipe.drain();
  EXPECT_EQ(pipe.latency(), 96U);
}

TEST(ExpNeg, AgreesAboutItsLastExponentAndBeyond) {
  ExpPipe pipe(2);
  for (int step = -1000; step <= 1000; ++step) {
    offer_exp(pipe, kLastExponent + static_cast<std::uint32_t>(step));
  }
  Random random(2);
  for (int i = 0; i < 1000; ++i) offer_exp(pipe, random.bits() | 0x80000000);
  pipe.drain();
}

TEST(ExpNeg, AgreesAboutMultiplesOfHalfTheLogarithmOfTwo) {
  ExpPipe pipe(3);
  for (int n = 1; n <= 250; ++n) {
    const auto x = std::bit_cast<std::uint32_t>(static_cast<float>(n * -0.34657359027997264));
    for (int step = -200; step <= 200; ++step) {
      offer_exp(pipe, x + static_cast<std::uint32_t>(step));
    }
  }
  pipe.drain();
}

// Found by search: at each of these x a change of the last bit of one of the formula's constants,
// up or down, changes the result.
TEST(ExpNeg, AgreesWhereTheLastBitOfAConstantShows) {
  ExpPipe pipe(5);
  for (const std::uint32_t x :
       {0xC18D66EBu, 0xC0D2B77Bu, 0xC20C0407u, 0xBEB17230u, 0xC18AA6A1u, 0xBE253C58u, 0xBF5AC12Eu,
        0xBE64F492u, 0xBFDB9D59u, 0xBE8357E1u, 0xBE6EFF87u, 0xBE185BD5u, 0xBE08E769u, 0xBD68BA4Eu,
        0xBCBC6D59u, 0xBBB65EEEu, 0xBB45C0CEu}) {
    offer_exp(pipe, x);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), 17U);
}

TEST(ExpNeg, AgreesFromZeroToItsLastExponent) { check_exponents(3727); }

TEST(ExpNeg, ForgetsAtReset) {
  ExpPipe pipe(4);
  pipe.reset_drops_what_is_under_way();
  for (const std::uint32_t x : special_operands()) offer_exp(pipe, x | 0x80000000);
  pipe.drain();
}

TEST(Silu, AgreesOnSpecialOperands) {
  SiluPipe pipe(1);
  for (const std::uint32_t x : special_operands()) offer_silu(pipe, x);
  pipe.drain();
  EXPECT_EQ(pipe.latency(), 120U);
}

TEST(Silu, AgreesOnUsualOperands) {
  constexpr std::uint64_t kSeed = 2;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  SiluPipe pipe(kSeed);
  for (int i = 0; i < 100'000; ++i) {
    offer_silu(pipe, with_field(random.bits(), random.between(100, 134)));
  }
  pipe.drain();
}

TEST(Silu, AgreesOnAllBitPatternsByStrides) { check_silu(42'949); }

TEST(Silu, ForgetsAtReset) {
  SiluPipe pipe(3);
  pipe.reset_drops_what_is_under_way();
  for (const std::uint32_t x : special_operands()) offer_silu(pipe, x);
  pipe.drain();
}

}  // namespace
}  // namespace logos
