#include "tests/rtl/heads_case.h"
#include "tests/rtl/rows_norm_case.h"

namespace logos {
namespace {

constexpr std::uint32_t kSeeds = 60;

TEST(RowsUnitNorm, GivesTheBitsOfTheReferenceAtManySeeds) {
  const std::uint32_t first = test_seed(1000);
  for (std::uint32_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) norms_at(seed);
}

TEST(HeadsUnit, GivesTheBitsOfTheReferenceAtManySeeds) {
  const std::uint32_t first = test_seed(2000);
  for (std::uint32_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) heads_at(seed);
}

}  // namespace
}  // namespace logos
