// The vector loops of the matrix product against the scalar definition: every kind of
// instructions that this processor has, odd shapes, odd splits, extreme values, poisoned padding.
#include "sim/reference/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "sim/reference/arithmetic.h"
#include "tests/sim/reference/random_source.h"

namespace logos::reference {
namespace {

/// A matrix whose padding holds noise.
struct TestMatrix {
  TestMatrix(std::int64_t rows, std::int64_t columns, RandomSource& random) {
    view.rows = rows;
    view.columns = columns;
    view.groups = (columns + kGroup - 1) / kGroup;
    view.pitch = view.groups * kGroup;
    q.resize(static_cast<std::size_t>(rows * view.pitch));
    c.resize(static_cast<std::size_t>(rows * view.groups));
    scales.resize(static_cast<std::size_t>(rows), 1.0f);
    for (auto& value : q) value = static_cast<std::int8_t>(random.between(-127, 127));
    for (auto& value : c) value = static_cast<std::uint8_t>(random.between(0, 255));
    poison(random);
  }

  void poison(RandomSource& random) {
    for (std::int64_t n = 0; n < view.rows; ++n) {
      for (std::int64_t k = view.columns; k < view.pitch; ++k) {
        q[static_cast<std::size_t>(n * view.pitch + k)] =
            static_cast<std::int8_t>(random.between(-128, 127));
      }
    }
    view.q = q;
    view.multipliers = c;
    view.scales = scales;
  }

  std::int64_t scalar_sum(std::int64_t row, Share columns, std::span<const std::int16_t> a) const {
    return exact_sum(std::span(q).subspan(static_cast<std::size_t>(row * view.pitch),
                                          static_cast<std::size_t>(view.columns)),
                     std::span(c).subspan(static_cast<std::size_t>(row * view.groups),
                                          static_cast<std::size_t>(view.groups)),
                     columns.begin, columns.end, a);
  }

  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  std::vector<float> scales;
  MatrixView view;
};

class ProductTest : public testing::TestWithParam<Instructions> {
 protected:
  void expect_scalar(const TestMatrix& matrix, Share rows, Share columns, std::int64_t activations,
                     const std::vector<std::int16_t>& a, int threads = 1) {
    Workers workers(threads);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(activations * rows.size()), -1);
    exact_sums(matrix.view, rows, columns, a, activations, sums, workers, GetParam());
    for (std::int64_t r = 0; r < activations; ++r) {
      const auto activation = std::span(a).subspan(static_cast<std::size_t>(r * columns.size()),
                                                   static_cast<std::size_t>(columns.size()));
      for (std::int64_t n = 0; n < rows.size(); ++n) {
        ASSERT_EQ(sums[static_cast<std::size_t>(r * rows.size() + n)],
                  matrix.scalar_sum(rows.begin + n, columns, activation))
            << "row " << n << " of activation " << r << ", columns " << columns.begin << " to "
            << columns.end;
      }
    }
  }

  static std::vector<std::int16_t> activations(std::int64_t count, RandomSource& random) {
    std::vector<std::int16_t> a(static_cast<std::size_t>(count));
    for (auto& value : a) value = static_cast<std::int16_t>(random.between(-32767, 32767));
    return a;
  }

  RandomSource random_;
};

TEST_P(ProductTest, RandomShapesAndSplitsGiveTheScalarSums) {
  for (int i = 0; i < 120; ++i) {
    const std::int64_t columns = random_.between(1, 400);
    const std::int64_t rows = random_.between(1, 40);
    const TestMatrix matrix(rows, columns, random_);
    Share row_share{random_.between(0, rows), 0};
    row_share.end = random_.between(row_share.begin, rows);
    Share column_share{random_.between(0, columns), 0};
    column_share.end = random_.between(column_share.begin, columns);
    const std::int64_t count = random_.between(1, 12);
    expect_scalar(matrix, row_share, column_share, count,
                  activations(count * column_share.size(), random_));
  }
}

TEST_P(ProductTest, OddSizesGiveTheScalarSums) {
  for (const std::int64_t columns : {1, 31, 32, 33, 75, 172, 2047, 2048, 2049, 4097}) {
    const TestMatrix matrix(97, columns, random_);
    for (const std::int64_t count : {1, 2, 3, 4, 5, 7}) {
      expect_scalar(matrix, {0, 97}, {0, columns}, count, activations(count * columns, random_));
    }
  }
}

TEST_P(ProductTest, MoreRowsThanABlockGiveTheScalarSums) {
  const TestMatrix matrix(9, 75, random_);
  for (const std::int64_t count : {63, 64, 65, 130}) {
    expect_scalar(matrix, {0, 9}, {0, 75}, count, activations(count * 75, random_));
  }
}

TEST_P(ProductTest, ExtremeValuesOfTheWidestRowDoNotOverflow) {
  constexpr std::int64_t kColumns = 32768;
  TestMatrix matrix(5, kColumns, random_);
  std::fill(matrix.c.begin(), matrix.c.end(), std::uint8_t{255});
  for (const int q : {127, -127}) {
    std::fill(matrix.q.begin(), matrix.q.end(), static_cast<std::int8_t>(q));
    for (const int a : {32767, -32767, 255, -1, -32513}) {
      for (const std::int64_t count : {1, 5}) {
        const std::vector<std::int16_t> all(static_cast<std::size_t>(count * kColumns),
                                            static_cast<std::int16_t>(a));
        expect_scalar(matrix, {0, 5}, {0, kColumns}, count, all);
      }
    }
  }
}

TEST_P(ProductTest, PaddingIsNotUsed) {
  for (const std::int64_t columns : {1, 75, 172, 97}) {
    TestMatrix matrix(6, columns, random_);
    const auto a = activations(5 * columns, random_);
    Workers workers(1);
    std::vector<std::int64_t> before(30), after(30);
    exact_sums(matrix.view, {0, 6}, {0, columns}, a, 5, before, workers, GetParam());
    for (std::int64_t n = 0; n < 6; ++n) {
      for (std::int64_t k = columns; k < matrix.view.pitch; ++k) {
        matrix.q[static_cast<std::size_t>(n * matrix.view.pitch + k)] = -1;  // 0xFF
      }
    }
    exact_sums(matrix.view, {0, 6}, {0, columns}, a, 5, after, workers, GetParam());
    EXPECT_EQ(before, after) << columns;
  }
}

TEST_P(ProductTest, ThreadsChangeNoSum) {
  const TestMatrix matrix(1001, 75, random_);
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::int64_t count : {1, 6}) {
      expect_scalar(matrix, {3, 1000}, {5, 74}, count, activations(count * 69, random_), threads);
    }
  }
}

TEST_P(ProductTest, EmptySharesGiveZeros) {
  const TestMatrix matrix(7, 40, random_);
  expect_scalar(matrix, {3, 3}, {0, 40}, 2, activations(80, random_));
  expect_scalar(matrix, {0, 7}, {33, 33}, 2, {});
}

INSTANTIATE_TEST_SUITE_P(Every, ProductTest, testing::ValuesIn(available_instructions()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Workers, EachUnitIsDoneOnceInEachRound) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> done(static_cast<std::size_t>(round * 7 % 301), 0);
      workers.share(static_cast<std::int64_t>(done.size()), 1 + round % 5,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i)
                        ++done[static_cast<std::size_t>(i)];
                    });
      EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST(Workers, WhatAPieceThrowsReachesTheCaller) {
  for (const int threads : {1, 3}) {
    Workers workers(threads);
    for (int round = 0; round < 3; ++round) {
      EXPECT_THROW(workers.share(100, 1,
                                 [](std::int64_t begin, std::int64_t) {
                                   if (begin <= 50) throw std::runtime_error("a piece");
                                 }),
                   std::runtime_error);
    }
    std::atomic<int> done = 0;
    workers.share(100, 1, [&](std::int64_t begin, std::int64_t end) {
      done += static_cast<int>(end - begin);
    });
    EXPECT_EQ(done, 100);
  }
}

}  // namespace
}  // namespace logos::reference
