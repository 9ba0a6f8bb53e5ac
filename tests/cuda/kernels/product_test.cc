// The ladder of products against a plain loop: any rows, columns, shares that begin and end inside
// a group, extreme values, garbage in the padding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

struct Matrix {
  int rows;
  int columns;
  int pitch;
  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> multipliers;
  std::vector<float> scales;
  std::vector<float> bias;

  bool half = false;  ///< of profile B: `multipliers` are binary16, there are no scales

  Matrix(Random& random, int rows_of, int columns_of, bool extreme)
      : rows(rows_of), columns(columns_of), pitch((columns_of + 31) / 32 * 32) {
    for (int i = 0; i < rows * pitch; ++i) {
      // The padding holds -128, which no real weight of profile A is.
      const bool padding = i % pitch >= columns;
      const auto value = extreme ? (random.whole(0, 1) == 0 ? -127 : 127) : random.whole(-127, 127);
      q.push_back(static_cast<std::int8_t>(padding ? -128 : value));
    }
    for (int i = 0; i < rows * pitch / 32; ++i) {
      multipliers.push_back(static_cast<std::uint8_t>(extreme ? 255 : random.whole(0, 255)));
    }
    for (int i = 0; i < rows; ++i) {
      scales.push_back(std::ldexp(1.0F + static_cast<float>(random.whole(0, 1000)) / 1024,
                                  static_cast<int>(random.whole(-30, 5))));
      bias.push_back(random.number());
    }
  }

  /// Makes it one of profile B: q = -128 and scales of either sign, subnormal ones too.
  void take_halves(Random& random, bool extreme) {
    half = true;
    scales.assign(static_cast<std::size_t>(rows), 0x1p-24F);
    multipliers.clear();
    for (int i = 0; i < rows * pitch / 32; ++i) {
      const std::int64_t magnitude = extreme ? 0x43FF : random.whole(0, 0x43FF);
      const std::int64_t bits = magnitude | random.whole(0, 1) << 15;
      multipliers.push_back(static_cast<std::uint8_t>(bits & 255));
      multipliers.push_back(static_cast<std::uint8_t>(bits >> 8));
    }
    for (auto& value : q) {
      if (random.whole(0, 31) == 0) value = -128;
    }
  }

  std::int64_t multiplier(std::size_t group) const {
    if (!half) return multipliers[group];
    const int d = multipliers[2 * group] | multipliers[2 * group + 1] << 8;
    const int exponent = d >> 10 & 31;
    const double fraction = (d & 1023) / 1024.0 + (exponent == 0 ? 0 : 1);
    const double c = std::ldexp(fraction, std::max(exponent, 1) - 15 + 24);
    return static_cast<std::int64_t>(d >> 15 == 0 ? c : -c);
  }
};

/// Columns [begin, end) of an input of some rows, as the kernels take it.
struct Input {
  int rows;
  int begin;
  int end;
  int column;  ///< where the block begins in the matrix
  int span;
  std::vector<int> a;  ///< `[rows, end - begin]`
  std::vector<std::int8_t> exponents;
  std::vector<std::int8_t> hi;
  std::vector<std::uint8_t> lo;

  Input(Random& random, int rows_of, int begin_of, int end_of, bool extreme)
      : rows(rows_of), begin(begin_of), end(end_of), column(begin_of / 32 * 32) {
    span = (end - column + 31) / 32 * 32;
    for (int r = 0; r < rows; ++r) {
      exponents.push_back(static_cast<std::int8_t>(r == 1 ? kZe : random.whole(-40, 20)));
      for (int k = column; k < column + span; ++k) {
        int value = 0;
        if (k >= begin && k < end) {
          value = static_cast<int>(extreme ? (random.whole(0, 1) == 0 ? -32767 : 32767)
                                           : random.whole(-32767, 32767));
          a.push_back(value);
        }
        hi.push_back(static_cast<std::int8_t>(value >> 8));
        lo.push_back(static_cast<std::uint8_t>(value & 255));
      }
    }
  }
};

std::int64_t plain_sum(const Matrix& m, const Input& x, int row, int output) {
  std::int64_t sum = 0;
  for (int k = x.begin; k < x.end; ++k) {
    const std::int64_t q = m.q[static_cast<std::size_t>(output * m.pitch + k)];
    const std::int64_t c = m.multiplier(static_cast<std::size_t>((output * m.pitch + k) / 32));
    sum += c * q * x.a[static_cast<std::size_t>(row * (x.end - x.begin) + k - x.begin)];
  }
  return sum;
}

/// How one launch is made.
struct Rung {
  const Kernel* kernel;
  int rows;  ///< of the kernel's tile
  int lanes;
  int token_warps;  ///< 0: dp4a
  bool half = false;
  int outputs() const { return token_warps == 0 ? 128 / lanes * 2 : 64 * (4 / token_warps); }
  std::size_t shared() const {
    if (token_warps == 0) return 0;
    return static_cast<std::size_t>(3 * (2 * 16 * token_warps * 80 + outputs() * (half ? 88 : 82)));
  }
};

/// Three segments: a whole matrix with a bias, a share of rows, a share as exact sums.
void expect_products(const Rung& rung, int rows, int columns, int begin, int end, bool extreme,
                     std::uint32_t fill, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << rung.kernel->name << " lanes " << rung.lanes << " warps " << rung.token_warps
               << ", " << rows << " rows, columns " << begin << " to " << end << " of " << columns
               << ", seed " << seed);
  Random random(seed);
  Matrix matrices[] = {Matrix(random, 97, columns, extreme), Matrix(random, 40, columns, extreme),
                       Matrix(random, 33, columns, extreme)};
  for (Matrix& m : matrices) {
    if (rung.half) m.take_halves(random, extreme);
  }
  const int first[] = {0, 5, 32};
  const int outputs[] = {97, 30, 1};
  const Input x(random, rows, begin, end, extreme);

  KernelBench bench(fill, seed);
  ProductArguments<Pointer> a{};
  a.hi = bench.put(x.hi);
  a.lo = bench.put(x.lo);
  a.exponents = bench.put(x.exponents);
  a.rows = rows;
  a.column = x.column;
  a.span = x.span;
  a.columns = end - begin;
  a.used = 3;
  a.lanes = rung.lanes;
  a.token_warps = rung.token_warps;
  std::uint32_t blocks = 0;
  for (int i = 0; i < 3; ++i) {
    ProductSegment<Pointer>& s = a.segments[i];
    const Matrix& m = matrices[i];
    s.q = bench.put(m.q);
    s.multipliers = bench.put(m.multipliers);
    if (!m.half) s.scales = bench.put(m.scales);
    s.first = first[i];
    s.outputs = outputs[i];
    s.pitch = m.pitch;
    s.groups = m.pitch / 32;
    const auto count = static_cast<std::size_t>(rows * outputs[i]);
    if (i == 2) {
      s.sums = bench.room<std::int64_t>(count);
    } else {
      s.out = bench.room<float>(count);
    }
    if (i == 0) {
      s.bias = bench.put(m.bias);
      s.raw = bench.room<float>(count);
    }
    blocks += static_cast<std::uint32_t>((outputs[i] + rung.outputs() - 1) / rung.outputs());
  }
  const auto tiles = static_cast<std::uint32_t>((rows + rung.rows - 1) / rung.rows);
  bench.launch(*rung.kernel, {blocks, tiles}, 128, rung.shared(), a);

  for (int i = 0; i < 3; ++i) {
    const ProductSegment<Pointer>& s = a.segments[i];
    const auto count = static_cast<std::size_t>(rows * outputs[i]);
    const auto sums = i == 2 ? bench.get(s.sums, count) : std::vector<std::int64_t>();
    const auto out = i == 2 ? std::vector<float>() : bench.get(s.out, count);
    const auto raw = i == 0 ? bench.get(s.raw, count) : std::vector<float>();
    for (int row = 0; row < rows; ++row) {
      for (int n = 0; n < outputs[i]; ++n) {
        const auto at = static_cast<std::size_t>(row * outputs[i] + n);
        const auto matrix_row = static_cast<std::size_t>(first[i] + n);
        const std::int64_t sum = plain_sum(matrices[i], x, row, first[i] + n);
        if (i == 2) {
          ASSERT_EQ(sums[at], sum) << "row " << row << " output " << n;
          continue;
        }
        float y = plain_product(sum, x.exponents[static_cast<std::size_t>(row)],
                                matrices[i].scales[matrix_row]);
        if (i == 0) {
          ASSERT_EQ(bits(raw[at]), bits(y)) << "row " << row << " output " << n;
          y = y + matrices[i].bias[matrix_row];
        }
        ASSERT_EQ(bits(out[at]), bits(y)) << "row " << row << " output " << n;
      }
    }
  }
}

std::vector<Rung> rungs() {
  std::vector<Rung> all;
  for (int lanes = 1; lanes <= 32; lanes *= 2) {
    all.push_back({&kernels().product_dp4a_1, 1, lanes, 0});
  }
  all.push_back({&kernels().product_dp4a_2, 2, 4, 0});
  all.push_back({&kernels().product_dp4a_4, 4, 8, 0});
  all.push_back({&kernels().product_dp4a_8, 8, 4, 0});
  all.push_back({&kernels().product_dp4a_1_half, 1, 8, 0, true});
  all.push_back({&kernels().product_dp4a_2_half, 2, 4, 0, true});
  all.push_back({&kernels().product_dp4a_4_half, 4, 8, 0, true});
  all.push_back({&kernels().product_dp4a_8_half, 8, 4, 0, true});
  for (const int warps : {1, 2, 4}) {
    all.push_back({&kernels().product_mma, 16 * warps, 1, warps});
    all.push_back({&kernels().product_mma_half, 16 * warps, 1, warps, true});
  }
  return all;
}

TEST(Product, OfAnyColumnsEqualsThePlainLoop) {
  std::uint64_t seed = 1;
  for (const Rung& rung : rungs()) {
    for (const int columns : {32, 64, 75, 172}) {
      expect_products(rung, 1 + static_cast<int>(seed % 3), columns, 0, columns, false, 0xFFFFFFFF,
                      seed);
      ++seed;
    }
  }
}

TEST(Product, OfSharesThatCutAGroupEqualsThePlainLoop) {
  std::uint64_t seed = 100;
  for (const Rung& rung : rungs()) {
    for (const auto& [begin, end] : {std::pair{37, 75}, {0, 37}, {43, 44}, {31, 33}, {64, 172}}) {
      expect_products(rung, 3, std::max(end, 75), begin, end, false, 0x7FC00000, seed++);
    }
  }
}

TEST(Product, OfExtremeValuesEqualsThePlainLoop) {
  std::uint64_t seed = 200;
  for (const Rung& rung : rungs()) {
    expect_products(rung, 2, 1024, 0, 1024, true, 0, seed++);
  }
}

TEST(Product, OfManyRowsEqualsThePlainLoop) {
  std::uint64_t seed = 300;
  for (const Rung& rung : rungs()) {
    if (rung.rows == 1 && rung.lanes != 4) continue;
    for (const int rows : {9, 16, 17, 65}) {
      expect_products(rung, rows, 172, 0, 172, false, 0x80808080, seed++);
    }
  }
}

TEST(Product, ReadsEachWeightByteOnceUpToTheRowsOfTheTile) {
  Random random(5);
  const Matrix m(random, 64, 128, false);
  const Input x(random, 4, 0, 128, false);
  KernelBench bench;
  ProductArguments<Pointer> a{};
  a.hi = bench.put(x.hi);
  a.lo = bench.put(x.lo);
  a.exponents = bench.put(x.exponents);
  a.rows = 4;
  a.span = a.columns = 128;
  a.used = 1;
  a.lanes = 8;
  ProductSegment<Pointer>& s = a.segments[0];
  s.q = bench.put(m.q);
  s.multipliers = bench.put(m.multipliers);
  s.scales = bench.put(m.scales);
  s.outputs = 64;
  s.pitch = 128;
  s.groups = 4;
  s.out = bench.room<float>(4 * 64);
  bench.launch(kernels().product_dp4a_4, {2}, 128, 0, a);
  const Traffic& traffic = bench.counted().traffic;
  EXPECT_EQ(traffic.int8_macs, 2U * 4 * 64 * 128);
  // Each multiplier serves two lanes, each row scale four rows.
  EXPECT_EQ(traffic.weight_bytes, 64U * (128 + 2 * 4 + 4 * 4));
}

}  // namespace
}  // namespace logos::cuda::testing
