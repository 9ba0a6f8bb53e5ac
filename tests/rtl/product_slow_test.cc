#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "Vproduct_16x16_model.h"
#include "Vproduct_1x1_model.h"
#include "Vproduct_32x16_model.h"
#include "Vproduct_4x2_model.h"
#include "Vproduct_8x8_model.h"
#include "tests/rtl/product_harness.h"

namespace logos {
namespace {

using d5005::Post;

/// Random programs of some instructions each: any sizes, rows, post steps and rates.
/// LOGOS_SEED: another first seed.
template <class Top>
void check_random_programs(std::uint32_t rows_of_pass, int programs) {
  const char* given = std::getenv("LOGOS_SEED");
  const std::uint32_t first = given == nullptr ? 1 : static_cast<std::uint32_t>(std::atol(given));
  ProductHarness<Top> harness(first);
  for (std::uint32_t seed = first; seed < first + static_cast<std::uint32_t>(programs); ++seed) {
    SCOPED_TRACE(fmt::format("LOGOS_SEED={}", seed));
    std::mt19937 random(seed);
    const auto below = [&](int bound) {
      return static_cast<int>(random() % static_cast<unsigned>(bound));
    };
    constexpr int kColumns[] = {75, 172, 97, 64, 2048, 1, 300, 1024, 129};
    const std::uint32_t rows = 1 + static_cast<std::uint32_t>(random()) % rows_of_pass;
    ProductCase made(seed, rows, kColumns[below(9)]);
    const int jobs = 1 + below(5);
    for (int i = 0; i < jobs; ++i) {
      constexpr int kOutputs[] = {75, 172, 97, 64, 1, 4, 33, 128, 31};
      const int outputs = kOutputs[below(9)];
      const bool bias = below(2) == 1;
      const bool track = below(2) == 1;
      switch (below(6)) {
        case 0:
          made.product(outputs, Post::kPlain, bias, track);
          break;
        case 1:
          made.product(outputs, Post::kResidual, bias, track);
          break;
        case 2:
          made.product(outputs, Post::kSilu, false, track);
          break;
        case 3:
          made.product(outputs, Post::kSums, bias);
          break;
        case 4:
          made.scale(outputs, 1 + below(4), Post::kPlain, bias, track);
          break;
        default:
          made.scale(outputs, 1 + below(4), Post::kResidual, bias, track);
          break;
      }
    }
    const auto rate = [&] { return below(3) == 0 ? 100u : 10u + static_cast<unsigned>(below(90)); };
    ProductRates rates;
    rates.stream = rate();
    rates.read = rate();
    rates.write = rate();
    rates.start = rate();
    harness.run(made, rates, below(4) == 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ProductSlow, RunsRandomProgramsWithOneRow) {
  check_random_programs<Vproduct_1x1_model>(1, 200);
}
TEST(ProductSlow, RunsRandomProgramsWithFourRowsOnTwo) {
  check_random_programs<Vproduct_4x2_model>(4, 200);
}
TEST(ProductSlow, RunsRandomProgramsWithEightRows) {
  check_random_programs<Vproduct_8x8_model>(8, 200);
}
TEST(ProductSlow, RunsRandomProgramsWithSixteenRows) {
  check_random_programs<Vproduct_16x16_model>(16, 100);
}
TEST(ProductSlow, RunsRandomProgramsWithThirtyTwoRowsOnSixteen) {
  check_random_programs<Vproduct_32x16_model>(32, 100);
}

}  // namespace
}  // namespace logos
