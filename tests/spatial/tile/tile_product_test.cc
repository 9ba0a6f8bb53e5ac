// The vectorised product against a plain loop, over shapes that fill nothing evenly.
#include "spatial/tile/tile_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/sim/reference/random_source.h"

namespace logos::spatial {
namespace {

struct Weights {
  Weights(std::int64_t rows, std::int64_t columns, RandomSource& random) {
    const std::int64_t groups = (columns + kGroup - 1) / kGroup;
    q.resize(static_cast<std::size_t>(rows * groups * kGroup));
    c.resize(static_cast<std::size_t>(rows * groups));
    scales.resize(static_cast<std::size_t>(rows), 1.0f);
    for (auto& value : q) value = static_cast<std::int8_t>(random.between(-128, 127));
    for (auto& value : c) value = static_cast<std::uint8_t>(random.between(0, 255));
    view = {rows, columns, groups * kGroup, groups, q, c, scales};
  }
  /// Makes it one of profile B; its columns fill whole groups.
  void take_halves(RandomSource& random) {
    d.resize(c.size());
    for (auto& value : d) {
      value = static_cast<std::uint16_t>(random.between(0, 0x43FF) | random.between(0, 1) << 15);
    }
    view.multipliers = {};
    view.scales = {};
    view.halves = d;
  }
  Weights(const Weights&) = delete;

  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  std::vector<std::uint16_t> d;
  std::vector<float> scales;
  MatrixView view;
};

std::int64_t multiplier(const MatrixView& matrix, std::size_t at) {
  if (matrix.profile() == Profile::kA) return matrix.multipliers[at];
  const std::uint16_t d = matrix.halves[at];
  const int exponent = d >> 10 & 31;
  const double fraction = (d & 1023) / 1024.0 + (exponent == 0 ? 0 : 1);
  return static_cast<std::int64_t>((d >> 15 == 0 ? 1 : -1) *
                                   std::ldexp(fraction, std::max(exponent, 1) - 15 + 24));
}

std::int64_t plain(const MatrixView& matrix, std::int64_t n, Share columns, const std::int16_t* a) {
  std::int64_t sum = 0;
  for (std::int64_t k = columns.begin; k < columns.end; ++k) {
    const std::int64_t c = multiplier(matrix, static_cast<std::size_t>(n * matrix.groups + k / 32));
    sum += c * matrix.q[static_cast<std::size_t>(n * matrix.pitch + k)] * a[k - columns.begin];
  }
  return sum;
}

void expect_product(const Weights& weights, Share rows, Share columns, std::int64_t operand_rows,
                    RandomSource& random, bool extreme) {
  const std::int64_t a_pitch = columns.size() + 3;
  std::vector<std::int16_t> a(static_cast<std::size_t>(operand_rows * a_pitch));
  for (auto& value : a) {
    value = static_cast<std::int16_t>(extreme ? (random.between(0, 1) == 0 ? -32767 : 32767)
                                              : random.between(-32767, 32767));
  }
  const std::int64_t pitch = rows.size() + 2;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(operand_rows * pitch), 7);
  TileProduct().add(weights.view, rows, columns, {a.data(), operand_rows, a_pitch}, sums.data(),
                    pitch);
  for (std::int64_t r = 0; r < operand_rows; ++r) {
    for (std::int64_t n = 0; n < pitch; ++n) {
      const bool inside = n < rows.size();
      const std::int64_t expected =
          7 + (inside ? plain(weights.view, rows.begin + n, columns, a.data() + r * a_pitch) : 0);
      ASSERT_EQ(sums[static_cast<std::size_t>(r * pitch + n)], expected)
          << "row " << r << ", matrix row " << n << ", columns " << columns.begin << " to "
          << columns.end;
    }
  }
}

TEST(TileProduct, AgreesWithAPlainLoopForAnyShare) {
  RandomSource random;
  for (int i = 0; i < 300; ++i) {
    const Weights weights(random.between(1, 9), random.between(1, 1600), random);
    const std::int64_t first = random.between(0, weights.view.rows - 1);
    const std::int64_t begin = random.between(0, weights.view.columns - 1);
    expect_product(weights, {first, random.between(first + 1, weights.view.rows)},
                   {begin, random.between(begin + 1, weights.view.columns)}, random.between(1, 7),
                   random, i % 4 == 0);
  }
}

TEST(TileProduct, OfProfileBAgreesWithAPlainLoopForAnyShare) {
  RandomSource random;
  for (int i = 0; i < 200; ++i) {
    Weights weights(random.between(1, 9), kGroup * random.between(1, 60), random);
    weights.take_halves(random);
    const std::int64_t first = random.between(0, weights.view.rows - 1);
    const std::int64_t begin = random.between(0, weights.view.columns - 1);
    expect_product(weights, {first, random.between(first + 1, weights.view.rows)},
                   {begin, random.between(begin + 1, weights.view.columns)}, random.between(1, 7),
                   random, i % 4 == 0);
  }
}

TEST(TileProduct, HoldsTheLargestSumsOfProfileB) {
  RandomSource random;
  constexpr std::int64_t kColumns = 32768;
  Weights weights(1, kColumns, random);
  weights.take_halves(random);
  for (auto& value : weights.q) value = -128;
  for (auto& value : weights.d) value = 0x43FF;
  const std::vector<std::int16_t> a(kColumns, -32767);
  std::vector<std::int64_t> sums(1);
  TileProduct().add(weights.view, {0, 1}, {0, kColumns}, {a.data(), 1, kColumns}, sums.data(), 1);
  EXPECT_EQ(sums.front(), kColumns * 128 * 32767 * (std::int64_t{2047} << 15));  // 2^62.9993
}

TEST(TileProduct, HoldsTheLargestSums) {
  RandomSource random;
  Weights weights(2, 4096, random);
  for (auto& value : weights.q) value = -128;
  for (auto& value : weights.c) value = 255;
  std::vector<std::int16_t> a(4096, -32767);
  std::vector<std::int64_t> sums(2);
  TileProduct().add(weights.view, {0, 2}, {0, 4096}, {a.data(), 1, 4096}, sums.data(), 2);
  const std::int64_t expected = std::int64_t{4096} * 255 * 128 * 32767;
  EXPECT_EQ(sums, (std::vector<std::int64_t>{expected, expected}));
}

TEST(TileProduct, AnEmptyShareAddsNothing) {
  RandomSource random;
  const Weights weights(3, 40, random);
  std::vector<std::int64_t> sums = {1, 2, 3};
  const std::vector<std::int16_t> a(40, 1);
  TileProduct product;
  product.add(weights.view, {1, 1}, {0, 40}, {a.data(), 1, 40}, sums.data(), 3);
  product.add(weights.view, {0, 3}, {7, 7}, {a.data(), 1, 40}, sums.data(), 3);
  EXPECT_EQ(sums, (std::vector<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace logos::spatial
