#include "float_units.h"

namespace logos {
namespace {

template <class Unit>
class BinaryFloat : public ::testing::Test {};

using BinaryUnits = ::testing::Types<Add, Multiply, Divide>;
TYPED_TEST_SUITE(BinaryFloat, BinaryUnits);

TYPED_TEST(BinaryFloat, AgreesWithTheHostOnAllPairsOfSpecialOperands) {
  UnitPipe<TypeParam> pipe(1);
  const auto operands = special_operands();
  for (const std::uint32_t a : operands) {
    for (const std::uint32_t b : operands) offer<TypeParam>(pipe, a, b);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), operands.size() * operands.size());
  EXPECT_EQ(pipe.latency(), TypeParam::kLatency);
}

TYPED_TEST(BinaryFloat, AgreesWithTheHostOnSpecialOperandsAgainstRandomOnes) {
  constexpr std::uint64_t kSeed = 2;
  Random random(kSeed);
  UnitPipe<TypeParam> pipe(kSeed);
  for (const std::uint32_t a : special_operands()) {
    for (int i = 0; i < 100; ++i) {
      offer<TypeParam>(pipe, a, random.bits());
      offer<TypeParam>(pipe, random.bits(), a);
    }
  }
  pipe.drain();
}

TYPED_TEST(BinaryFloat, AgreesWithTheHostOnRandomPairs) {
  check_random_pairs<TypeParam>(300'000, 3);
}

TYPED_TEST(BinaryFloat, ForgetsAtReset) {
  UnitPipe<TypeParam> pipe(4);
  pipe.reset_drops_what_is_under_way();
  for (const std::uint32_t a : special_operands()) offer<TypeParam>(pipe, a, 0x40000000);
  pipe.drain();
}

TEST(F32Sqrt, AgreesWithTheHostOnSpecialOperands) {
  SqrtPipe pipe(5);
  for (const std::uint32_t a : special_operands()) offer_root(pipe, a);
  pipe.drain();
  EXPECT_EQ(pipe.results(), special_operands().size());
  EXPECT_EQ(pipe.latency(), 28U);
}

TEST(F32Sqrt, AgreesWithTheHostOnRandomOperands) { check_random_roots(300'000, 6); }

TEST(F32Sqrt, ForgetsAtReset) {
  SqrtPipe pipe(7);
  pipe.reset_drops_what_is_under_way();
  for (const std::uint32_t a : special_operands()) offer_root(pipe, a);
  pipe.drain();
}

}  // namespace
}  // namespace logos
