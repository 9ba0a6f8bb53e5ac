#pragma once

#include <set>

#include "sim/reference/arithmetic.h"
#include "tests/rtl/rows_harness.h"

namespace logos {

/// One norm with all that it needs, and what must come of it.
class NormCase {
 public:
  NormCase(std::uint32_t columns, std::uint32_t count, std::uint32_t row, std::mt19937& random)
      : columns_(columns), count_(count), row_(row), random_(random) {
    instruction.op = static_cast<std::uint32_t>(d5005::Op::kNorm);
    instruction.columns = columns;
    instruction.words = divide_up(columns, 64);
    instruction.source = 10;
    instruction.source_stride = divide_up(columns, 32) + static_cast<std::uint32_t>(random() % 2);
    instruction.destination = 4000;
    instruction.destination_stride =
        divide_up(columns, 32) + static_cast<std::uint32_t>(random() % 3);
    instruction.gain = 5;
    instruction.epsilon = std::bit_cast<std::uint32_t>(random() % 2 != 0 ? 1e-5F : 1e-6F);
    instruction.peaks = static_cast<std::uint32_t>(d5005::Peaks::kOfProduct);
    instruction.line = kLine;
    instruction.apart = kApart;
    gains_.resize(columns);
    const int top = random() % 4 == 0 ? 39 : 2;  // up to gains that take rows beyond 2^40
    for (auto& gain : gains_) gain = random_float(random, top - 5, top);
    for (std::uint32_t r = 0; r < count; ++r) rows_.push_back(row_of(static_cast<int>(r)));
  }

  /// Gains into gain memory, rows into vector memory, their peaks into the product's set.
  void prepare(RowsHarness& rows) {
    d5005::Instruction gain;
    gain.op = static_cast<std::uint32_t>(d5005::Op::kGain);
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
      rows.set_peaks(d5005::Peaks::kOfProduct, row_ + r, reference::peak_of(rows_[r]));
    }
  }

  int run(RowsHarness& rows) { return rows.run(instruction, pass_bits(count_, 3, row_), {}); }

  void check(const RowsHarness& rows) const {
    std::set<std::uint32_t> lines;
    for (std::uint32_t r = 0; r < count_; ++r) {
      SCOPED_TRACE(testing::Message() << "row " << r);
      std::vector<float> y(columns_);
      if (reference::rms_norm(rows_[r], gains_, std::bit_cast<float>(instruction.epsilon), y)) {
        lines.insert(kLine);
      }
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
      if (scale.fault) lines.insert(kLine + kApart);
    }
    EXPECT_EQ(std::set<std::uint32_t>(rows.faults.begin(), rows.faults.end()), lines);
  }

  d5005::Instruction instruction;

 private:
  static constexpr std::uint32_t kLine = 1234;
  static constexpr std::uint32_t kApart = 3;

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

/// Norms of many shapes at random rates, by seed.
inline void norms_at(std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RowsHarness rows(seed);
  std::mt19937 random(seed);
  for (const std::uint32_t columns : {2U, 32U, 33U, 64U, 75U, 96U, 172U, 288U, 2048U}) {
    for (const std::uint32_t count : {1U, 3U, 8U}) {
      SCOPED_TRACE(testing::Message() << columns << " columns, " << count << " rows");
      rows.set_rates(random() % 2 != 0 ? 100 : 60, random() % 2 != 0 ? 100 : 30, 100);
      const std::uint32_t row = count == 1 ? static_cast<std::uint32_t>(random() % 8) : 0;
      NormCase norm(columns, count, row, random);
      norm.prepare(rows);
      norm.run(rows);
      norm.check(rows);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace logos
