// The kernels that hold whole rows, against plain loops.

#include <gtest/gtest.h>

#include "kernel_bench.h"
#include "plain.h"

namespace logos::cuda::testing {
namespace {

constexpr std::size_t kHeader = 512;

/// Shared bytes of a row's block: the reductions' words and the staged row.
std::size_t shared_bytes(int columns) {
  return kHeader + (columns <= kStagedColumns ? static_cast<std::size_t>(4 * columns) : 0);
}

/// Outputs of rows with a block of its own lead, a peak or values.
struct RowResults {
  RowOutputs<Pointer> row{};
  int rows;
  int columns;

  RowResults(KernelBench& bench, int rows_of, int columns_of, bool out, bool peak, bool block,
             int lead = 0)
      : rows(rows_of), columns(columns_of) {
    const auto count = static_cast<std::size_t>(rows);
    if (out) row.out = bench.room<float>(count * static_cast<std::size_t>(columns));
    if (peak) row.peak = bench.room<std::uint32_t>(count);
    if (!block) return;
    row.lead = lead;
    row.pitch = (lead + columns + 31) / 32 * 32;
    const std::size_t plane = count * static_cast<std::size_t>(row.pitch);
    row.hi = bench.room<std::int8_t>(plane);
    row.lo = bench.room<std::uint8_t>(plane);
    row.exponents = bench.room<std::int8_t>(count);
    row.fault = bench.put(std::vector<std::uint32_t>{0});
  }

  void expect_values(KernelBench& bench, int r, std::span<const float> want) const {
    const auto got = bench.get(row.out + static_cast<std::int64_t>(r) * columns,
                               static_cast<std::size_t>(columns));
    for (std::size_t j = 0; j < want.size(); ++j) {
      ASSERT_EQ(bits(got[j]), bits(want[j])) << "row " << r << " column " << j;
    }
  }

  /// The block, with zeros before and behind its columns.
  void expect_block(KernelBench& bench, int r, const PlainBlock& want) const {
    const auto pitch = static_cast<std::size_t>(row.pitch);
    const auto hi = bench.get(row.hi + static_cast<std::int64_t>(r) * row.pitch, pitch);
    const auto lo = bench.get(row.lo + static_cast<std::int64_t>(r) * row.pitch, pitch);
    ASSERT_EQ(bench.get(row.exponents + r, 1)[0], want.e) << "row " << r;
    for (int p = 0; p < row.pitch; ++p) {
      const int j = p - row.lead;
      const bool inside = j >= 0 && j < columns;
      const auto at = static_cast<std::size_t>(p);
      ASSERT_EQ(256 * hi[at] + lo[at], inside ? want.q[static_cast<std::size_t>(j)] : 0)
          << "row " << r << " padded column " << p;
    }
  }
};

std::span<const float> row_of(const std::vector<float>& values, int r, int columns) {
  return std::span(values).subspan(static_cast<std::size_t>(r * columns),
                                   static_cast<std::size_t>(columns));
}

struct Shape {
  int columns;
  std::uint32_t threads;
};
const Shape kShapes[] = {{1, 32},   {64, 32},    {75, 32},    {97, 64},
                         {172, 64}, {2048, 512}, {12300, 512}};

TEST(NormRows, EqualThePlainLoopWithAndWithoutAResidual) {
  std::uint64_t seed = 1;
  for (const Shape& shape : kShapes) {
    for (const bool adds : {false, true}) {
      SCOPED_TRACE(::testing::Message() << shape.columns << " columns, seed " << seed);
      Random random(seed++);
      const int rows = 3;
      const auto count = static_cast<std::size_t>(rows * shape.columns);
      auto x = random.numbers(count);
      const auto addend = random.numbers(count);
      std::fill(x.begin() + shape.columns, x.begin() + 2 * shape.columns, 0.0F);
      const auto gain = random.numbers(static_cast<std::size_t>(shape.columns), -4, 4);
      KernelBench bench(0x7FC00000, seed);
      RowResults results(bench, rows, shape.columns, true, false, true);
      NormArguments<Pointer> a{};
      a.x = bench.put(x);
      if (adds) a.addend = bench.put(addend);
      a.sum = bench.room<float>(count);
      a.gain = bench.put(gain);
      a.fault = bench.put(std::vector<std::uint32_t>{0});
      a.row = results.row;
      a.rows = rows;
      a.columns = shape.columns;
      a.epsilon = 1e-5F;
      bench.launch(kernels().norm_rows, {static_cast<std::uint32_t>(rows)}, shape.threads,
                   shared_bytes(shape.columns), a);
      const auto sums = bench.get(a.sum, count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(bits(sums[i]), bits(adds ? plain_residual(x[i], addend[i]) : x[i]));
      }
      for (int r = 0; r < rows; ++r) {
        const PlainNorm norm = plain_norm(row_of(sums, r, shape.columns), gain, 1e-5F);
        results.expect_values(bench, r, norm.y);
        results.expect_block(bench, r, q16(norm.y));
      }
      EXPECT_EQ(bench.get(a.fault, 1)[0], 0U);
      EXPECT_EQ(bench.get(a.row.fault, 1)[0], 0U);
    }
  }
}

TEST(NormRows, RaiseTheFaultOfTheOperationThatSawTooMuch) {
  struct Case {
    float x;
    float gain;
    bool norm_fault;
    bool block_fault;
  };
  const float inf = of_bits(0x7F800000);
  for (const Case& c :
       {Case{1.0F, 1.0F, false, false}, Case{0x1p41F, 1.0F, true, true},
        Case{1.0F, 0x1p42F, false, true}, Case{inf, 1.0F, true, true},
        Case{of_bits(0x7FC00000), 1.0F, true, true}, Case{0x1.8p40F, 1.0F, false, false}}) {
    KernelBench bench;
    RowResults results(bench, 1, 64, false, false, true);
    NormArguments<Pointer> a{};
    std::vector<float> x(64, c.x);
    a.x = bench.put(x);
    a.gain = bench.put(std::vector<float>(64, c.gain));
    a.fault = bench.put(std::vector<std::uint32_t>{0});
    a.row = results.row;
    a.rows = 1;
    a.columns = 64;
    a.epsilon = 1e-5F;
    bench.launch(kernels().norm_rows, {1}, 32, shared_bytes(64), a);
    EXPECT_EQ(bench.get(a.fault, 1)[0] != 0, c.norm_fault) << c.x;
    EXPECT_EQ(bench.get(a.row.fault, 1)[0] != 0, c.block_fault) << c.x << " " << c.gain;
    const PlainNorm norm = plain_norm(x, std::vector<float>(64, c.gain), 1e-5F);
    results.expect_block(bench, 0, q16(norm.y));
  }
}

TEST(SiluRows, EqualThePlainLoop) {
  std::uint64_t seed = 50;
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(::testing::Message() << shape.columns << " columns, seed " << seed);
    Random random(seed++);
    const int rows = 2;
    const auto count = static_cast<std::size_t>(rows * shape.columns);
    const auto gate = random.numbers(count, -10, 7);
    const auto up = random.numbers(count);
    KernelBench bench(0xFFFFFFFF, seed);
    RowResults results(bench, rows, shape.columns, true, true, true, 7);
    SiluArguments<Pointer> a{};
    a.gate = bench.put(gate);
    a.up = bench.put(up);
    a.row = results.row;
    a.rows = rows;
    a.columns = shape.columns;
    bench.launch(kernels().silu_rows, {static_cast<std::uint32_t>(rows)}, shape.threads,
                 shared_bytes(shape.columns), a);
    for (int r = 0; r < rows; ++r) {
      std::vector<float> want;
      for (int j = 0; j < shape.columns; ++j) {
        const auto at = static_cast<std::size_t>(r * shape.columns + j);
        want.push_back(plain_silu(gate[at]) * up[at]);
      }
      results.expect_values(bench, r, want);
      results.expect_block(bench, r, q16(want));
      EXPECT_EQ(bench.get(a.row.peak + r, 1)[0], peak_of(want));
    }
  }
}

TEST(QuantizeRows, AtTheGreatestPeakOfAllChipsEqualThePlainLoop) {
  std::uint64_t seed = 80;
  for (const int chips : {0, 1, 3, 8}) {  // 0: the row's own peak
    for (const Shape& shape : kShapes) {
      for (const int lead : {0, 5, 31}) {
        SCOPED_TRACE(::testing::Message() << shape.columns << " columns, " << chips
                                          << " chips, lead " << lead << ", seed " << seed);
        Random random(seed++);
        const int rows = 3;
        const int stride = 64;
        const auto x = random.numbers(static_cast<std::size_t>(rows * shape.columns));
        std::vector<std::uint32_t> peaks(static_cast<std::size_t>(std::max(chips, 1) * stride),
                                         0xFFFFFFFF);
        KernelBench bench(0x7F800001, seed);
        RowResults results(bench, rows, shape.columns, false, false, true, lead);
        QuantizeArguments<Pointer> a{};
        a.x = bench.put(x);
        std::vector<std::uint32_t> greatest;
        for (int r = 0; r < rows; ++r) {
          greatest.push_back(peak_of(row_of(x, r, shape.columns)));
          for (int chip = 0; chip < chips; ++chip) {
            // One chip's peak is this part's own: no value is above the greatest of all.
            const bool own = chip == r % chips;
            const std::uint32_t peak = own ? greatest.back() : magnitude(random.number(-20, 14));
            peaks[static_cast<std::size_t>(chip * stride + r)] = peak;
          }
        }
        for (int r = 0; r < rows; ++r) {
          for (int chip = 0; chip < chips; ++chip) {
            auto& most = greatest[static_cast<std::size_t>(r)];
            most = std::max(most, peaks[static_cast<std::size_t>(chip * stride + r)]);
          }
        }
        if (chips > 0) a.peaks = bench.put(peaks);
        a.row = results.row;
        a.rows = rows;
        a.columns = shape.columns;
        a.chips = chips;
        a.peak_stride = stride;
        bench.launch(kernels().quantize_rows, {static_cast<std::uint32_t>(rows)}, shape.threads,
                     kHeader, a);
        for (int r = 0; r < rows; ++r) {
          results.expect_block(
              bench, r, q16_at(row_of(x, r, shape.columns), greatest[static_cast<std::size_t>(r)]));
        }
      }
    }
  }
}

TEST(QuantizeRows, OfAnEmptyShareKeepTheExponent) {
  KernelBench bench;
  RowResults results(bench, 1, 0, false, false, true);
  QuantizeArguments<Pointer> a{};
  a.x = bench.room<float>(0);
  a.peaks = bench.put(std::vector<std::uint32_t>{bits(3.0F)});
  a.row = results.row;
  a.rows = 1;
  a.chips = 1;
  bench.launch(kernels().quantize_rows, {1}, 32, kHeader, a);
  EXPECT_EQ(bench.get(a.row.exponents, 1)[0], 1 - 14);
}

}  // namespace
}  // namespace logos::cuda::testing
