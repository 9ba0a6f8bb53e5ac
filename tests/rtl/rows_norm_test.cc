#include <cmath>

#include "sim/reference/arithmetic.h"
#include "tests/rtl/rows_harness.h"

namespace logos {
namespace {

using d5005::Instruction;
using d5005::Op;
using d5005::Peaks;

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

std::uint32_t canonical(float x) {
  return std::isnan(x) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(x);
}

/// One norm with all that it needs, and what must come of it.
class NormCase {
 public:
  NormCase(std::uint32_t columns, std::uint32_t count, std::uint32_t row, std::mt19937& random)
      : columns_(columns), count_(count), row_(row), random_(random) {
    instruction.op = static_cast<std::uint32_t>(Op::kNorm);
    instruction.columns = columns;
    instruction.words = divide_up(columns, 64);
    instruction.source = 10;
    instruction.source_stride = divide_up(columns, 32) + static_cast<std::uint32_t>(random() % 2);
    instruction.destination = 4000;
    instruction.destination_stride =
        divide_up(columns, 32) + static_cast<std::uint32_t>(random() % 3);
    instruction.gain = 5;
    instruction.epsilon = std::bit_cast<std::uint32_t>(random() % 2 != 0 ? 1e-5F : 1e-6F);
    instruction.peaks = static_cast<std::uint32_t>(Peaks::kOfProduct);
    instruction.line = 1234;
    gains_.resize(columns);
    for (auto& gain : gains_) gain = random_float(random, -3, 2);
    for (std::uint32_t r = 0; r < count; ++r) rows_.push_back(row_of(static_cast<int>(r)));
  }

  /// Gains into gain memory, rows into vector memory, their peaks into the product's set.
  void prepare(RowsHarness& rows) {
    Instruction gain;
    gain.op = static_cast<std::uint32_t>(Op::kGain);
    gain.columns = columns_;
    gain.gain = instruction.gain;
    std::vector<SuperBeat> beats(divide_up(columns_, 64));
    for (auto& beat : beats) {
      for (auto& word : beat) word = static_cast<std::uint32_t>(random_());
    }
    std::memcpy(beats.data(), gains_.data(), gains_.size() * 4);
    rows.run(gain, pass_bits(count_), beats);
    for (std::uint32_t r = 0; r < count_; ++r) {
      const std::size_t base = instruction.source + r * instruction.source_stride;
      for (std::size_t k = 0; k < divide_up(columns_, 32) * 32; ++k) {
        rows.vectors.put(base, k, k < columns_ ? std::bit_cast<std::uint32_t>(rows_[r][k]) : 0);
      }
      rows.set_peaks(Peaks::kOfProduct, row_ + r, reference::peak_of(rows_[r]));
    }
  }

  int run(RowsHarness& rows) { return rows.run(instruction, pass_bits(count_, 3, row_), {}); }

  void check(const RowsHarness& rows) const {
    bool fault = false;
    for (std::uint32_t r = 0; r < count_; ++r) {
      SCOPED_TRACE(testing::Message() << "row " << r);
      std::vector<float> y(columns_);
      fault = reference::rms_norm(rows_[r], gains_, std::bit_cast<float>(instruction.epsilon), y) ||
              fault;
      const std::size_t base = instruction.destination + r * instruction.destination_stride;
      for (std::size_t k = 0; k < divide_up(columns_, 32) * 32; ++k) {
        ASSERT_EQ(rows.vectors.bits(base, k), k < columns_ ? canonical(y[k]) : 0)
            << "element " << k;
      }
      std::vector<std::int16_t> q(columns_);
      const auto scale = reference::quantize(y, q);
      for (std::size_t k = 0; k < instruction.words * 64; ++k) {
        ASSERT_EQ(rows.activation(r, k), k < columns_ ? q[k] : 0) << "column " << k;
      }
      EXPECT_EQ(rows.exponent(r), scale.exponent);
      fault = fault || scale.fault;
    }
    EXPECT_EQ(!rows.faults.empty(), fault);
    for (const auto line : rows.faults) EXPECT_EQ(line, 1234U);
  }

  Instruction instruction;

 private:
  std::vector<float> row_of(int r) {
    std::vector<float> x(columns_);
    const auto kind = random_() % 8;
    // Large and small rows, and those at the ends of what Q16 takes.
    const int top = kind == 0 ? 40 : kind == 1 ? -60 : kind == 2 ? -61 : kind == 3 ? 41 : r % 5;
    for (auto& value : x) value = random_float(random_, std::max(top - 12, -126), top);
    if (random_() % 8 == 0) std::fill(x.begin(), x.end(), 0.0F);
    if (random_() % 16 == 0) x[random_() % x.size()] = std::bit_cast<float>(0x7F800000U);
    if (random_() % 16 == 0) x[random_() % x.size()] = std::bit_cast<float>(0xFFC00001U);
    return x;
  }

  std::uint32_t columns_, count_, row_;
  std::mt19937& random_;
  std::vector<float> gains_;
  std::vector<std::vector<float>> rows_;
};

TEST(RowsUnitNorm, GivesTheBitsOfTheReference) {
  RowsHarness rows(11);
  std::mt19937 random(11);
  for (const std::uint32_t columns : {2U, 32U, 33U, 64U, 75U, 96U, 172U, 288U, 2048U}) {
    for (const std::uint32_t count : {1U, 3U, 8U}) {
      SCOPED_TRACE(testing::Message() << columns << " columns, " << count << " rows");
      rows.set_rates(random() % 2 != 0 ? 100 : 60, random() % 2 != 0 ? 100 : 30, 100);
      const std::uint32_t row = count == 1 ? static_cast<std::uint32_t>(random() % 8) : 0;
      NormCase norm(columns, count, row, random);
      norm.prepare(rows);
      norm.run(rows);
      norm.check(rows);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RowsUnitNorm, GivesTheSameInPlace) {
  RowsHarness rows(12);
  std::mt19937 random(12);
  for (int round = 0; round < 10; ++round) {
    rows.set_rates(70, 50, 100);
    NormCase norm(75 + 64 * static_cast<std::uint32_t>(round), 3, 0, random);
    norm.instruction.destination = norm.instruction.source;
    norm.instruction.destination_stride = norm.instruction.source_stride;
    norm.prepare(rows);
    norm.run(rows);
    norm.check(rows);
  }
}

TEST(RowsUnitNorm, StartsAfreshAfterAResetInTheMiddle) {
  RowsHarness rows(13);
  std::mt19937 random(13);
  for (const int cycles : {3, 20, 60, 150, 220, 260, 300, 350, 400}) {
    SCOPED_TRACE(cycles);
    rows.set_rates(80, 80, 100);
    NormCase norm(288, 8, 0, random);
    norm.prepare(rows);
    rows.run(norm.instruction, pass_bits(8), {}, cycles);
    rows.reset();
    norm.prepare(rows);
    norm.run(rows);
    norm.check(rows);
  }
}

TEST(RowsUnitNorm, PaysLatenciesOnce) {
  RowsHarness rows(14);
  std::mt19937 random(14);
  for (const std::uint32_t count : {1U, 8U}) {
    NormCase norm(2048, count, 0, random);
    norm.prepare(rows);
    const int cycles = norm.run(rows);
    norm.check(rows);
    const int words = static_cast<int>(count * 64);
    RecordProperty(count == 1 ? "norm_cycles_1_row" : "norm_cycles_8_rows", cycles);
    EXPECT_GE(cycles, 3 * words);
    EXPECT_LE(cycles, 3 * words + 200);
    Instruction quantize = norm.instruction;
    quantize.op = static_cast<std::uint32_t>(Op::kQuantize);
    const int quantized = rows.run(quantize, pass_bits(count), {});
    RecordProperty(count == 1 ? "quantize_cycles_1_row" : "quantize_cycles_8_rows", quantized);
    EXPECT_GE(quantized, words);
    EXPECT_LE(quantized, words + 40);
  }
}

}  // namespace
}  // namespace logos
