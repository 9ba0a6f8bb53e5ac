// The product of profile B against its definition: every kind of instructions that this processor
// has, odd splits, the widest row at its extremes, what a quantizer never writes.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sim/reference/arithmetic.h"
#include "sim/reference/product.h"
#include "tests/sim/reference/random_source.h"

namespace logos::reference {
namespace {

struct HalfMatrix {
  HalfMatrix(std::int64_t rows, std::int64_t columns) {
    q.resize(static_cast<std::size_t>(rows * columns));
    halves.resize(static_cast<std::size_t>(rows * columns / kGroup));
    view = {.rows = rows,
            .columns = columns,
            .pitch = columns,
            .groups = columns / kGroup,
            .q = q,
            .multipliers = {},
            .scales = {},
            .halves = halves};
  }
  HalfMatrix(std::int64_t rows, std::int64_t columns, RandomSource& random)
      : HalfMatrix(rows, columns) {
    for (auto& value : q) value = static_cast<std::int8_t>(random.between(-128, 127));
    for (auto& half : halves) {
      half = static_cast<std::uint16_t>(random.between(0, 0x43FF) | random.between(0, 1) << 15);
    }
  }
  HalfMatrix(const HalfMatrix&) = delete;

  std::vector<std::int8_t> q;
  std::vector<std::uint16_t> halves;
  MatrixView view;
};

/// d of a binary16 by its definition, without bits put together.
double value_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const double fraction = (half & 1023) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return half >> 15 == 0 ? magnitude : -magnitude;
}

class HalfProduct : public testing::TestWithParam<Instructions> {
 protected:
  void expect_defined(const HalfMatrix& matrix, Share rows, Share columns,
                      const std::vector<std::int16_t>& a, std::int64_t count, int threads = 1) {
    Workers workers(threads);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count * rows.size()), -1);
    exact_sums(matrix.view, rows, columns, a, count, sums, workers, GetParam());
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t n = 0; n < rows.size(); ++n) {
        __int128 want = 0;
        for (std::int64_t k = columns.begin; k < columns.end; ++k) {
          const std::int64_t row = rows.begin + n;
          const auto c = static_cast<std::int64_t>(
              value_of(
                  matrix.halves[static_cast<std::size_t>(row * matrix.view.groups + k / kGroup)]) *
              0x1p24);
          want += __int128{c} * matrix.q[static_cast<std::size_t>(row * matrix.view.pitch + k)] *
                  a[static_cast<std::size_t>(r * columns.size() + k - columns.begin)];
        }
        ASSERT_TRUE(want == sums[static_cast<std::size_t>(r * rows.size() + n)])
            << "row " << n << " of activation " << r;
      }
    }
  }

  std::vector<std::int16_t> activations(std::int64_t count) {
    std::vector<std::int16_t> a(static_cast<std::size_t>(count));
    for (auto& value : a) value = static_cast<std::int16_t>(random_.between(-32767, 32767));
    return a;
  }

  RandomSource random_;
};

TEST(MultiplierOfHalf, IsTheBinary16Times2To24ForEveryAdmittedValue) {
  for (std::uint32_t bits = 0; bits < 0x4400; ++bits) {
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const auto half = static_cast<std::uint16_t>(bits | sign);
      ASSERT_EQ(multiplier_of_half(half), value_of(half) * 0x1p24) << half;
    }
  }
  EXPECT_EQ(multiplier_of_half(0x8000), 0);
  EXPECT_EQ(multiplier_of_half(0x8001), -1);
  EXPECT_EQ(multiplier_of_half(0x3C00), 1 << 24);
  EXPECT_EQ(multiplier_of_half(0x43FF), 2047 << 15);
}

TEST_P(HalfProduct, RandomShapesAndSplitsGiveTheDefinedSums) {
  for (int i = 0; i < 60; ++i) {
    const std::int64_t columns = kGroup * random_.between(1, 130);
    const std::int64_t rows = random_.between(1, 20);
    const HalfMatrix matrix(rows, columns, random_);
    Share row_share{random_.between(0, rows), 0};
    row_share.end = random_.between(row_share.begin, rows);
    Share column_share{random_.between(0, columns), 0};
    column_share.end = random_.between(column_share.begin, columns);
    const std::int64_t count = random_.between(1, 35);
    expect_defined(matrix, row_share, column_share, activations(count * column_share.size()), count,
                   i % 2 == 0 ? 1 : 3);
  }
}

TEST_P(HalfProduct, ExtremeValuesOfTheWidestRowDoNotOverflow) {
  constexpr std::int64_t kColumns = 32768;
  HalfMatrix matrix(2, kColumns);
  for (const int q : {127, -128}) {
    std::fill(matrix.q.begin(), matrix.q.end(), static_cast<std::int8_t>(q));
    for (const std::uint16_t half : {std::uint16_t{0x43FF}, std::uint16_t{0xC3FF}}) {
      std::fill(matrix.halves.begin(), matrix.halves.end(), half);
      for (const int a : {32767, -32767}) {
        const std::vector<std::int16_t> all(kColumns, static_cast<std::int16_t>(a));
        expect_defined(matrix, {0, 2}, {0, kColumns}, all, 1);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, HalfProduct, testing::ValuesIn(available_instructions()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(EmbeddingRow, OfProfileBRoundsOnce) {
  const std::vector<std::int8_t> q = {-128, 127, 1, 0};
  std::vector<float> x(4);
  embedding_row(q, std::vector<std::uint16_t>{0x43FF}, x);
  // -128 * 2047 * 2^15 * 2^-24 and its like are exact; 127 * 2047 takes 18 bits, so all are.
  EXPECT_EQ(x,
            (std::vector<float>{-128 * 2047 * 0x1p-9F, 127 * 2047 * 0x1p-9F, 2047 * 0x1p-9F, 0}));
  embedding_row(q, std::vector<std::uint16_t>{0x8001}, x);
  EXPECT_EQ(x, (std::vector<float>{0x1p-17F, -127 * 0x1p-24F, -0x1p-24F, 0}));
}

}  // namespace
}  // namespace logos::reference
