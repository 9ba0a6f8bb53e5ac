#include <gtest/gtest.h>

#include <cstdint>

#include "Vproduct_16x16_model.h"
#include "Vproduct_1x1_model.h"
#include "Vproduct_32x16_model.h"
#include "Vproduct_4x2_model.h"
#include "Vproduct_8x8_model.h"
#include "tests/rtl/product_harness.h"

namespace logos {
namespace {

using d5005::Post;

template <class TopType, std::uint32_t kRowsOfPass>
struct Size {
  using Top = TopType;
  static constexpr std::uint32_t kRows = kRowsOfPass;
};

constexpr ProductRates kSlowStream{.stream = 40, .read = 90, .write = 90, .start = 30};
constexpr ProductRates kSlowWrite{.stream = 100, .read = 50, .write = 25, .start = 100};
constexpr ProductRates kAllSlow{.stream = 60, .read = 30, .write = 60, .start = 10};

template <class SizeType>
class Product : public testing::Test {
 protected:
  using Top = typename SizeType::Top;
  static constexpr std::uint32_t kRows = SizeType::kRows;

  /// Runs a case that `make` fills, with all rows and with some, at several rates.
  template <class Make>
  void check(int columns, Make make) {
    const ProductRates rates[] = {ProductRates{}, kSlowStream, kSlowWrite, kAllSlow};
    for (const std::uint32_t rows : {kRows, kRows / 2 + 1, 1u}) {
      for (const ProductRates& rate : rates) {
        const std::uint32_t seed = ++seed_ + 100 * kRows;
        SCOPED_TRACE(fmt::format("seed {} columns {} rows {} stream {} write {}", seed, columns,
                                 rows, rate.stream, rate.write));
        ProductCase product_case(seed, rows, columns);
        make(product_case);
        harness_.run(product_case, rate);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  ProductHarness<Top> harness_{kRows};
  std::uint32_t seed_ = 0;
};

using Sizes = testing::Types<Size<Vproduct_1x1_model, 1>, Size<Vproduct_4x2_model, 4>,
                             Size<Vproduct_8x8_model, 8>, Size<Vproduct_16x16_model, 16>,
                             Size<Vproduct_32x16_model, 32>>;
TYPED_TEST_SUITE(Product, Sizes);

TYPED_TEST(Product, WritesScaledSumsWithAndWithoutBias) {
  this->check(97, [](ProductCase& made) {
    made.product(75, Post::kPlain, false, true);
    made.product(70, Post::kPlain, true, false);
  });
}

TYPED_TEST(Product, AddsToTheResidualStream) {
  this->check(172, [](ProductCase& made) {
    made.product(75, Post::kResidual, false, true);
    made.product(5, Post::kResidual, true, true);
  });
}

TYPED_TEST(Product, MultipliesTheGateWithSilu) {
  this->check(64, [](ProductCase& made) {
    made.product(75, Post::kSilu, false, true);
    made.product(3, Post::kSilu, false, false);
    made.product(64, Post::kPlain);
  });
}

TYPED_TEST(Product, WritesExactSums) {
  this->check(300, [](ProductCase& made) {
    made.product(41, Post::kSums);
    made.product(1, Post::kPlain);
    made.product(32, Post::kSums);
  });
}

TYPED_TEST(Product, AddsTheSumsOfSeveralChips) {
  this->check(64, [](ProductCase& made) {
    made.scale(75, 2, Post::kPlain, true, true);
    made.product(33, Post::kResidual, false, true);
    made.scale(129, 3, Post::kResidual, false, true);
    made.scale(64, 1, Post::kPlain, false, false);
  });
}

TYPED_TEST(Product, HoldsTheLargestSums) {
  const std::uint32_t rows = this->kRows;
  ProductCase made(7, rows, 2048, Numbers::kLargest);
  made.product(9, Post::kSums);
  made.product(12, Post::kPlain, false, true);
  this->harness_.run(made, ProductRates{});
}

TYPED_TEST(Product, FollowsTheQuantizerWordByWord) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    ProductCase made(seed, this->kRows, 300);
    made.product(37, Post::kPlain, false, true);
    made.product(21, Post::kSilu);
    this->harness_.run(made, seed % 2 == 0 ? kAllSlow : ProductRates{}, true);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(Product, StartsAfreshAfterAResetAtAnyTime) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    ProductCase cut(seed, this->kRows, 130);
    cut.product(30, Post::kSilu, false, true);
    cut.scale(70, 2, Post::kResidual, true, true);
    this->harness_.run(cut, kAllSlow, false, 20 + 37 * seed);
    this->harness_.reset();
    ProductCase whole(seed + 100, this->kRows, 130);
    whole.product(30, Post::kResidual, true, true);
    this->harness_.run(whole, ProductRates{});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(Product, ShowsActivationsToAnObserver) {
  ProductCase made(3, this->kRows, 300);
  this->harness_.write_activations(made.activations());
  for (std::uint32_t row = 0; row < this->kRows; ++row) {
    for (std::uint32_t word = 0; word < 5; ++word) {
      const auto got = this->harness_.read_activations(row, word);
      for (std::size_t k = 0; k < 64; ++k) {
        ASSERT_EQ(got[k], made.activations().q[row][64 * word + k]);
      }
    }
  }
}

TEST(ProductTiming, TakesASuperBeatACycle) {
  ProductHarness<Vproduct_8x8_model> harness(1);
  ProductCase made(1, 8, 2048);
  for (int i = 0; i < 3; ++i) made.product(128, Post::kResidual, false, true);
  made.product(64, Post::kSilu, false, true);
  harness.run(made, ProductRates{});
  // A cycle is lost at each start.
  EXPECT_LE(harness.stream_cycles(), harness.beats() + 3);
  EXPECT_EQ(harness.stalled_on_output(), 0u);
}

TEST(ProductTiming, HidesMultipliersBehindTheSecondPhase) {
  ProductHarness<Vproduct_32x16_model> harness(1);
  ProductCase made(1, 32, 2048);
  made.product(128, Post::kPlain, false, true);
  harness.run(made, ProductRates{});
  const std::uint64_t weights = 32 * 32;
  EXPECT_LE(harness.stream_cycles(), 2 * weights + 4);
}

TEST(ProductTiming, KeepsTheOutputBusyWithRowsOfOneWord) {
  ProductHarness<Vproduct_8x8_model> harness(1);
  ProductCase made(1, 8, 64);
  made.product(256, Post::kPlain, false, true);
  harness.run(made, ProductRates{});
  // 64 quads of 8 rows leave in 512 cycles, a row each; the last 16 quads are on chip by then.
  EXPECT_LE(harness.stream_cycles() + harness.tail_cycles(), 512u + 60u);
  EXPECT_GT(harness.stalled_on_output(), 100u);
}

}  // namespace
}  // namespace logos
