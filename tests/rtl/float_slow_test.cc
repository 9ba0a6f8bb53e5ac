#include "float_conversions.h"
#include "float_curve_reference.h"
#include "float_units.h"

namespace logos {
namespace {

constexpr std::uint64_t kPairs = 10'000'000;

TEST(FloatSlow, AddAgreesWithTheHost) { check_random_pairs<Add>(kPairs, 101); }
TEST(FloatSlow, MultiplyAgreesWithTheHost) { check_random_pairs<Multiply>(kPairs, 102); }
TEST(FloatSlow, DivideAgreesWithTheHost) { check_random_pairs<Divide>(kPairs, 103); }
TEST(FloatSlow, SqrtAgreesWithTheHost) { check_random_roots(kPairs, 104); }
TEST(FloatSlow, IntToF32Agrees) { check_random_integers(kPairs, 105); }
TEST(FloatSlow, RoundScaledAgrees) { check_random_rounding(kPairs, 106); }
TEST(FloatSlow, ExpNegAgreesFromZeroToItsLastExponent) { check_exponents(97); }  // 11.5 million
TEST(FloatSlow, SiluAgreesOnAllBitPatternsByStrides) { check_silu(397); }        // 10.8 million

}  // namespace
}  // namespace logos
