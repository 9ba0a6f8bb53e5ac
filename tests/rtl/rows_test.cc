#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/reference/arithmetic.h"
#include "tests/rtl/rows_harness.h"

namespace logos {
namespace {

using d5005::Instruction;
using d5005::Op;
using d5005::Peaks;

SuperBeat garbage(std::mt19937& random) {
  SuperBeat beat;
  for (auto& word : beat) word = static_cast<std::uint32_t>(random());
  return beat;
}

/// Rows of binary32 as they lie in the stream; what lies behind a row's end is garbage.
std::vector<SuperBeat> beats_of(const std::vector<std::vector<float>>& rows, std::mt19937& random) {
  std::vector<SuperBeat> beats;
  for (const auto& row : rows) {
    for (std::size_t first = 0; first < row.size(); first += 64) {
      beats.push_back(garbage(random));
      for (std::size_t k = first; k < std::min(first + 64, row.size()); ++k) {
        beats.back()[k - first] = std::bit_cast<std::uint32_t>(row[k]);
      }
    }
  }
  return beats;
}

std::vector<std::vector<float>> random_rows(std::uint32_t rows, std::uint32_t columns,
                                            std::mt19937& random) {
  std::vector<std::vector<float>> values(rows, std::vector<float>(columns));
  for (auto& row : values) {
    for (auto& x : row) x = random_float(random);
  }
  return values;
}

/// A row's words hold the values, then zeros to the end of the last word.
void expect_row(const RowsHarness& rows, std::size_t base, std::span<const float> values) {
  for (std::size_t k = 0; k < divide_up(static_cast<std::uint32_t>(values.size()), 32) * 32; ++k) {
    ASSERT_EQ(rows.vectors.bits(base, k),
              k < values.size() ? std::bit_cast<std::uint32_t>(values[k]) : 0)
        << "element " << k;
  }
}

TEST(RowsUnit, LoadsRowsAndKeepsTheirPeaks) {
  RowsHarness rows(1);
  std::mt19937 random(1);
  for (const std::uint32_t columns : {1U, 4U, 31U, 32U, 33U, 64U, 75U, 128U, 172U}) {
    for (const std::uint32_t count : {1U, 3U, 8U}) {
      SCOPED_TRACE(testing::Message() << columns << " columns, " << count << " rows");
      rows.set_rates(100, random() % 2 != 0 ? 100 : 40, random() % 2 != 0 ? 100 : 50);
      const auto values = random_rows(count, columns, random);
      Instruction i;
      i.op = static_cast<std::uint32_t>(Op::kLoad);
      i.columns = columns;
      i.destination = 100;
      i.destination_stride = divide_up(columns, 32) + 1;
      const auto before = rows.vectors.word(100 + divide_up(columns, 32));
      rows.run(i, pass_bits(count), beats_of(values, random));
      for (std::uint32_t r = 0; r < count; ++r) {
        expect_row(rows, 100 + r * i.destination_stride, values[r]);
        EXPECT_EQ(rows.peak(r), reference::peak_of(values[r]));
      }
      for (std::uint32_t r = count; r < RowsHarness::kRows; ++r) EXPECT_EQ(rows.peak(r), 0U);
      EXPECT_EQ(rows.vectors.word(100 + divide_up(columns, 32)), before) << "between rows";
    }
  }
}

TEST(RowsUnit, LoadsGains) {
  RowsHarness rows(2);
  std::mt19937 random(2);
  for (const std::uint32_t columns : {8U, 64U, 75U, 288U}) {
    SCOPED_TRACE(columns);
    rows.set_rates(100, 100, 60);
    const auto values = random_rows(1, columns, random);
    Instruction i;
    i.op = static_cast<std::uint32_t>(Op::kGain);
    i.columns = columns;
    i.gain = 17;
    rows.run(i, pass_bits(5), beats_of(values, random));
    for (std::uint32_t k = 0; k < columns; ++k) {
      ASSERT_EQ(rows.gain(17 + k / 32)[k % 32], std::bit_cast<std::uint32_t>(values[0][k]));
    }
  }
}

TEST(RowsUnit, LoadsRotaryRows) {
  RowsHarness rows(3);
  std::mt19937 random(3);
  for (const std::uint32_t head_columns : {8U, 48U, 64U, 128U, 256U}) {
    SCOPED_TRACE(head_columns);
    rows.set_rates(100, 100, 60);
    const auto values = random_rows(8, head_columns, random);
    Instruction i;
    i.op = static_cast<std::uint32_t>(Op::kRotary);
    i.head_columns = head_columns;
    rows.run(i, pass_bits(8), beats_of(values, random));
    for (std::uint32_t r = 0; r < 8; ++r) {
      for (std::uint32_t k = 0; k < head_columns; ++k) {
        ASSERT_EQ(rows.rotary(4 * r + k / 64)[k % 64], std::bit_cast<std::uint32_t>(values[r][k]));
      }
    }
  }
}

TEST(RowsUnit, TakesPeaksOfAllChips) {
  RowsHarness rows(4);
  std::mt19937 random(4);
  for (const std::uint32_t chips : {1U, 3U, 32U, 33U, 64U}) {
    SCOPED_TRACE(chips);
    std::vector<SuperBeat> beats;
    std::vector<std::uint32_t> expected;
    for (int r = 0; r < 3; ++r) {
      beats.push_back(garbage(random));
      std::uint32_t peak = 0;
      for (std::uint32_t k = 0; k < chips; ++k) {
        beats.back()[k] &= 0x7FFFFFFF;
        peak = std::max(peak, beats.back()[k]);
      }
      expected.push_back(peak);
    }
    Instruction i;
    i.op = static_cast<std::uint32_t>(Op::kPeak);
    i.heads = chips;
    const std::size_t writes = rows.vectors.writes();
    rows.run(i, pass_bits(3), beats);
    for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(rows.peak(r), expected[r]);
    EXPECT_EQ(rows.vectors.writes(), writes);
  }
  // The last row alone: its peak lies where the row lies in the pass.
  Instruction i;
  i.op = static_cast<std::uint32_t>(Op::kPeak);
  i.heads = 2;
  SuperBeat beat = garbage(random);
  beat[0] = 5;
  beat[1] = 77;
  rows.run(i, pass_bits(1, 12, 4), std::vector{beat});
  for (std::uint32_t r = 0; r < 8; ++r) EXPECT_EQ(rows.peak(r), r == 4 ? 77U : 0U);
}

/// A row of an embedding: weights, multipliers, scale and their super-beats.
struct EmbeddingRow {
  std::vector<std::int8_t> q;
  std::vector<std::uint8_t> c;
  float scale = 0;

  EmbeddingRow(std::uint32_t columns, std::mt19937& random)
      : q(columns), c(divide_up(columns, 32)) {
    for (auto& weight : q)
      weight = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    for (auto& multiplier : c) multiplier = static_cast<std::uint8_t>(random());
    c[0] = 255;
    q[0] = -127;
    scale = std::bit_cast<float>(0x33000000U + static_cast<std::uint32_t>(random() % 0x4000000));
  }

  void append(std::vector<SuperBeat>& beats, std::mt19937& random) const {
    const std::size_t front = divide_up(static_cast<std::uint32_t>(c.size()) + 4, 256);
    std::vector<SuperBeat> mine;
    for (std::size_t b = 0; b < front + divide_up(static_cast<std::uint32_t>(q.size()), 256); ++b) {
      mine.push_back(garbage(random));
    }
    auto* bytes = reinterpret_cast<std::uint8_t*>(mine.data());
    std::memcpy(bytes, &scale, 4);
    std::memcpy(bytes + 4, c.data(), c.size());
    std::memcpy(bytes + front * 256, q.data(), q.size());
    beats.insert(beats.end(), mine.begin(), mine.end());
  }
};

TEST(RowsUnit, EmbedsTokens) {
  RowsHarness rows(5);
  std::mt19937 random(5);
  for (const std::uint32_t columns : {32U, 64U, 75U, 172U, 256U, 288U, 900U, 8064U, 8200U, 8300U}) {
    const std::uint32_t count = columns > 4000 ? 2 : 1 + static_cast<std::uint32_t>(random() % 8);
    SCOPED_TRACE(testing::Message() << columns << " columns, " << count << " rows");
    rows.set_rates(100, random() % 2 != 0 ? 100 : 50, random() % 2 != 0 ? 100 : 30);
    std::vector<EmbeddingRow> table;
    std::vector<SuperBeat> beats;
    for (std::uint32_t r = 0; r < count; ++r) {
      table.emplace_back(columns, random);
      table.back().append(beats, random);
    }
    Instruction i;
    i.op = static_cast<std::uint32_t>(Op::kEmbed);
    i.columns = columns;
    i.destination = 3;
    i.destination_stride = divide_up(columns, 32);
    rows.run(i, pass_bits(count), beats);
    for (std::uint32_t r = 0; r < count; ++r) {
      std::vector<float> expected(columns);
      reference::embedding_row(table[r].q, table[r].c, table[r].scale, expected);
      expect_row(rows, 3 + r * i.destination_stride, expected);
      EXPECT_EQ(rows.peak(r), reference::peak_of(expected));
    }
  }
}

/// What OpQuantize makes of a row: the elements in front and behind count as 0.
void expect_quantized(const RowsHarness& rows, std::uint32_t r, std::span<const float> x,
                      std::uint32_t first, std::uint32_t peak, bool& fault) {
  std::vector<float> counted(x.begin(), x.end());
  std::fill_n(counted.begin(), first, 0.0F);
  std::vector<std::int16_t> q(x.size());
  const auto scale = reference::quantize_at(counted, peak, q);
  for (std::size_t k = 0; k < divide_up(static_cast<std::uint32_t>(x.size()), 64) * 64; ++k) {
    ASSERT_EQ(rows.activation(r, k), k < q.size() ? q[k] : 0) << "row " << r << " column " << k;
  }
  EXPECT_EQ(rows.exponent(r), scale.exponent);
  fault = fault || scale.fault;
}

TEST(RowsUnit, QuantizesRowsAtGivenPeaks) {
  RowsHarness rows(6);
  std::mt19937 random(6);
  for (const std::uint32_t columns : {1U, 31U, 32U, 33U, 64U, 75U, 96U, 172U, 288U}) {
    for (const std::uint32_t count : {1U, 3U, 8U}) {
      const std::uint32_t first = static_cast<std::uint32_t>(random() % 2 * (random() % 32));
      const std::uint32_t row = count == 1 ? static_cast<std::uint32_t>(random() % 8) : 0;
      const auto set = random() % 2 != 0 ? Peaks::kOfProduct : Peaks::kOfAttend;
      SCOPED_TRACE(testing::Message() << columns << " from " << first << ", " << count << " rows");
      rows.set_rates(random() % 2 != 0 ? 100 : 50, 100, 100);
      Instruction i;
      i.op = static_cast<std::uint32_t>(Op::kQuantize);
      i.columns = columns;
      i.first = first;
      i.source = 40;
      i.source_stride = divide_up(first + columns, 32) + 2;
      i.peaks = static_cast<std::uint32_t>(set);
      i.line = 321;
      std::vector<std::vector<float>> values;
      std::vector<std::uint32_t> peaks;
      for (std::uint32_t r = 0; r < count; ++r) {
        // Exponents around the ends of the range: -61, -60, …, 40, 41, and infinity.
        const int top = static_cast<int>(random() % 4) == 0 ? (random() % 2 != 0 ? -61 : 41)
                                                            : static_cast<int>(random() % 102) - 60;
        std::vector<float> x(first + columns);
        for (auto& value : x) value = random_float(random, std::max(top - 20, -126), top);
        if (random() % 16 == 0) x.back() = std::bit_cast<float>(0x7F800000U);
        if (random() % 16 == 0) std::fill(x.begin(), x.end(), 0.0F);
        for (std::size_t k = 0; k < x.size(); ++k) {
          rows.vectors.put(40 + r * i.source_stride, k, std::bit_cast<std::uint32_t>(x[k]));
        }
        peaks.push_back(reference::peak_of(std::span(x).subspan(first)));
        values.push_back(std::move(x));
        rows.set_peaks(set, row + r, peaks.back());
      }
      rows.run(i, pass_bits(count, 5, row), {});
      bool fault = false;
      for (std::uint32_t r = 0; r < count; ++r) {
        expect_quantized(rows, r, values[r], first, peaks[r], fault);
      }
      EXPECT_EQ(!rows.faults.empty(), fault);
      for (const auto line : rows.faults) EXPECT_EQ(line, 321U);
    }
  }
}

TEST(RowsUnit, QuantizesTheKnownAnswers) {
  std::ifstream file(LOGOS_SHARED_DIR "/golden/q16.json");
  const auto golden = nlohmann::json::parse(file);
  RowsHarness rows(7);
  std::mt19937 random(7);
  std::size_t blocks = 0;
  for (const auto& known : golden.at("cases")) {
    SCOPED_TRACE(known.value("remark", ""));
    std::vector<std::vector<float>> x(1);
    for (const auto& bits : known.at("x")) {
      x[0].push_back(std::bit_cast<float>(
          static_cast<std::uint32_t>(std::stoul(bits.get<std::string>(), nullptr, 16))));
    }
    Instruction i;
    i.op = static_cast<std::uint32_t>(Op::kLoad);
    i.columns = static_cast<std::uint32_t>(x[0].size());
    i.destination = 900;
    rows.run(i, pass_bits(1), beats_of(x, random));
    i.op = static_cast<std::uint32_t>(Op::kQuantize);
    i.source = 900;
    i.line = 9;
    rows.run(i, pass_bits(1), {});
    EXPECT_EQ(rows.exponent(0), known.at("e").get<int>());
    EXPECT_EQ(!rows.faults.empty(), known.at("fault").get<bool>());
    for (std::size_t k = 0; k < x[0].size(); ++k) {
      ASSERT_EQ(rows.activation(0, k), known.at("q")[k].get<int>()) << "element " << k;
    }
    ++blocks;
  }
  EXPECT_GT(blocks, 50U);
}

}  // namespace
}  // namespace logos
