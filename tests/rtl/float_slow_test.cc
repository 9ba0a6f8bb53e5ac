#include "float_units.h"

namespace logos {
namespace {

constexpr std::uint64_t kPairs = 10'000'000;

TEST(FloatSlow, AddAgreesWithTheHost) { check_random_pairs<Add>(kPairs, 101); }
TEST(FloatSlow, MultiplyAgreesWithTheHost) { check_random_pairs<Multiply>(kPairs, 102); }
TEST(FloatSlow, DivideAgreesWithTheHost) { check_random_pairs<Divide>(kPairs, 103); }
TEST(FloatSlow, SqrtAgreesWithTheHost) { check_random_roots(kPairs, 104); }

}  // namespace
}  // namespace logos
