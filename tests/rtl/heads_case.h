#pragma once

#include <algorithm>
#include <set>

#include "sim/reference/arithmetic.h"
#include "tests/rtl/heads_harness.h"

namespace logos {

inline constexpr std::uint32_t kPositions[] = {0,   1,   2,    3,    5,     127,
                                               128, 131, 1023, 4095, 70001, 131071};

/// One OpHeads with all that it needs, and what must come of it.
class HeadsCase {
 public:
  HeadsCase(std::uint32_t head_columns, std::uint32_t heads, std::uint32_t rows,
            std::mt19937& random)
      : columns_(head_columns), heads_(heads), rows_(rows), random_(random) {
    instruction.op = static_cast<std::uint32_t>(d5005::Op::kHeads);
    instruction.head_columns = head_columns;
    instruction.heads = heads;
    instruction.source = 200;
    instruction.source_stride =
        divide_up(heads * slot(), 32) + static_cast<std::uint32_t>(random() % 2);
    instruction.gain = 11;
    instruction.epsilon = std::bit_cast<std::uint32_t>(1e-6F);
    instruction.line = kLine;
    instruction.apart = kApart;
    instruction.cache_base = 0x123456;
    instruction.cache_head_stride = 0x1357;
    instruction.values_offset = 0x4321;
    instruction.cache_row_stride = random() % 2 != 0 ? 0x20001 : 0;
    gains_.resize(columns_);
    const int top = random() % 4 == 0 ? 39 : 2;  // up to gains that take heads beyond 2^40
    for (auto& gain : gains_) gain = random_float(random, top - 5, top);
    for (std::uint32_t r = 0; r < rows; ++r) {
      // Rows of a shared cache lie at positions one after the other.
      positions_.push_back(instruction.cache_row_stride == 0
                               ? 126 + r
                               : kPositions[random() % std::size(kPositions)]);
      cosines_.push_back(numbers(columns_ / 2, 0));
      sines_.push_back(numbers(columns_ / 2, 0));
      for (std::uint32_t h = 0; h < heads; ++h) x_.push_back(head());
    }
  }

  /// Gains, rotary rows, positions and, unless a product is still to write them, the heads.
  void prepare(HeadsHarness& unit, bool with_heads = true) {
    std::array<std::uint32_t, 32> gains;
    for (std::uint32_t w = 0; w < divide_up(columns_, 32); ++w) {
      for (std::uint32_t k = 0; k < 32; ++k) {
        gains[k] = 32 * w + k < columns_ ? std::bit_cast<std::uint32_t>(gains_[32 * w + k])
                                         : static_cast<std::uint32_t>(random_());
      }
      unit.put_gain(instruction.gain + w, gains);
    }
    for (std::uint32_t r = 0; r < rows_; ++r) {
      std::array<std::uint32_t, 64> pairs;
      for (std::uint32_t w = 0; w < divide_up(columns_, 64); ++w) {
        for (std::uint32_t p = 0; p < 32; ++p) {
          const bool there = 32 * w + p < columns_ / 2;
          pairs[2 * p] = there ? std::bit_cast<std::uint32_t>(cosines_[r][32 * w + p])
                               : static_cast<std::uint32_t>(random_());
          pairs[2 * p + 1] = there ? std::bit_cast<std::uint32_t>(sines_[r][32 * w + p])
                                   : static_cast<std::uint32_t>(random_());
        }
        unit.put_rotary(4 * r + w, pairs);
      }
      unit.set_position(pass_row + r, positions_[r]);
    }
    if (with_heads) {
      for (std::uint32_t quad = 0; quad < heads_ * slot() / 4; ++quad) put_quad(unit, quad);
    }
    unit.set_product(0, 0);
  }

  /// Quad `quad` of all rows, as a product writes it: garbage behind a head's last column.
  void put_quad(HeadsHarness& unit, std::uint32_t quad) {
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::uint32_t k = 4 * quad; k < 4 * quad + 4; ++k) {
        const auto& head = x_[r * heads_ + k / slot()];
        unit.vectors.put(base(r), k,
                         k % slot() < columns_ ? std::bit_cast<std::uint32_t>(head[k % slot()])
                                               : static_cast<std::uint32_t>(random_()));
      }
    }
  }

  int run(HeadsHarness& unit) { return unit.run(instruction, pass()); }
  std::uint32_t pass() const { return pass_bits(rows_, first_row, pass_row); }
  std::uint32_t quads() const { return heads_ * slot() / 4; }

  void check(HeadsHarness& unit) {
    std::set<std::uint32_t> lines;
    const auto target = static_cast<d5005::HeadTarget>(instruction.target);
    std::map<std::pair<unsigned, std::uint32_t>, std::pair<HeadsHarness::Beat, std::uint64_t>>
        cache;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::uint32_t h = 0; h < heads_; ++h) {
        SCOPED_TRACE(testing::Message() << "row " << r << " head " << h);
        std::vector<float> x = x_[r * heads_ + h];
        if (instruction.norm != 0) {
          if (reference::rms_norm(x, gains_, std::bit_cast<float>(instruction.epsilon), x)) {
            lines.insert(kLine);
          }
        }
        if (instruction.rotate != 0) {
          const std::vector<float> before = x;
          reference::rotate(before, cosines_[r], sines_[r], x);
        }
        if (instruction.write_back != 0) expect_written_back(unit, r, h, x);
        if (target == d5005::HeadTarget::kNowhere) continue;
        std::vector<std::int16_t> q(columns_);
        const auto scale = reference::quantize(x, q);
        if (scale.fault) lines.insert(kLine + kApart);
        q.resize(words() * 32);
        if (target == d5005::HeadTarget::kQuery) {
          const std::uint32_t number = r * heads_ + h;
          for (std::uint32_t k = 0; k < q.size(); ++k) {
            ASSERT_EQ(unit.query(number * words() + k / 32)[k % 32], q[k]) << "column " << k;
          }
          ASSERT_EQ(unit.query_exponent(number), scale.exponent);
        } else {
          push(cache, r, h, q, scale.exponent);
        }
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_cache(unit, cache);
    EXPECT_EQ(unit.query_writes,
              target == d5005::HeadTarget::kQuery ? static_cast<int>(rows_ * heads_ * words()) : 0);
    EXPECT_EQ(std::set<std::uint32_t>(unit.faults.begin(), unit.faults.end()), lines);
  }

  d5005::Instruction instruction;
  std::uint32_t first_row = 9;
  std::uint32_t pass_row = 0;

 private:
  static constexpr std::uint32_t kLine = 77;
  static constexpr std::uint32_t kApart = 5;
  using Banks =
      std::map<std::pair<unsigned, std::uint32_t>, std::pair<HeadsHarness::Beat, std::uint64_t>>;

  std::uint32_t slot() const { return divide_up(columns_, 4) * 4; }
  std::uint32_t words() const { return divide_up(columns_, 32); }
  std::size_t base(std::uint32_t r) const {
    return instruction.source + r * instruction.source_stride;
  }

  std::vector<float> numbers(std::uint32_t count, int top) {
    std::vector<float> x(count);
    for (auto& value : x) value = random_float(random_, std::max(top - 12, -126), top);
    return x;
  }

  std::vector<float> head() {
    const auto kind = random_() % 24;
    const int top = kind == 0   ? 40
                    : kind == 1 ? 41
                    : kind == 2 ? -60
                    : kind == 3 ? -62
                                : static_cast<int>(random_() % 8) - 4;
    auto x = numbers(columns_, top);
    if (random_() % 16 == 0) std::fill(x.begin(), x.end(), 0.0F);
    if (random_() % 32 == 0) x[random_() % x.size()] = std::bit_cast<float>(0xFF800000U);
    if (random_() % 32 == 0) x[random_() % x.size()] = std::bit_cast<float>(0x7FC00000U);
    return x;
  }

  void expect_written_back(const HeadsHarness& unit, std::uint32_t r, std::uint32_t h,
                           std::span<const float> x) const {
    for (std::uint32_t k = 0; k < slot(); ++k) {
      ASSERT_EQ(unit.vectors.bits(base(r), h * slot() + k), k < columns_ ? canonical(x[k]) : 0)
          << "written back: column " << k;
    }
  }

  void push(Banks& cache, std::uint32_t r, std::uint32_t h, std::span<const std::int16_t> q,
            std::int8_t exponent) const {
    const bool values =
        instruction.target == static_cast<std::uint32_t>(d5005::HeadTarget::kValues);
    const std::uint32_t t = positions_[r];
    const std::uint32_t a = instruction.cache_base + h * instruction.cache_head_stride +
                            (first_row + r) * instruction.cache_row_stride;
    const std::uint32_t block = t / 128, i = t % 128 / 4, bank = t % 4;
    const std::uint32_t exponents = a + block * (1 + 32 * words());
    const std::uint32_t first =
        values ? a + instruction.values_offset + block * 32 * words() + i * words()
               : exponents + 1 + i * words();
    constexpr std::uint32_t kAddresses = 0xFFFFFFF;
    for (std::uint32_t w = 0; w < words(); ++w) {
      auto& [bytes, written] = cache[{bank, (first + w) & kAddresses}];
      std::memcpy(bytes.data(), q.data() + 32 * w, 64);
      written = ~std::uint64_t{0};
    }
    auto& [bytes, written] = cache[{bank, exponents & kAddresses}];
    bytes[2 * i + values] = static_cast<std::uint8_t>(exponent);
    written |= std::uint64_t{1} << (2 * i + values);
  }

  static void expect_cache(const HeadsHarness& unit, const Banks& expected) {
    ASSERT_EQ(unit.cache.size(), expected.size());
    for (const auto& [place, beat] : expected) {
      SCOPED_TRACE(testing::Message() << "bank " << place.first << " address " << place.second);
      const auto found = unit.cache.find(place);
      ASSERT_NE(found, unit.cache.end());
      ASSERT_EQ(found->second.second, beat.second) << "which bytes were written";
      for (std::size_t b = 0; b < 64; ++b) {
        if ((beat.second >> b & 1) != 0) {
          ASSERT_EQ(found->second.first[b], beat.first[b]) << "byte " << b;
        }
      }
    }
  }

  std::uint32_t columns_, heads_, rows_;
  std::mt19937& random_;
  std::vector<float> gains_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::vector<float>> cosines_, sines_;  ///< [row][pair]
  std::vector<std::vector<float>> x_;                ///< [row * heads + head][column]
};

inline void set_random_rates(HeadsHarness& unit, std::mt19937& random) {
  unit.set_rates(random() % 2 != 0 ? 100 : 40, random() % 2 != 0 ? 100 : 30,
                 random() % 2 != 0 ? 100 : 20);
}

/// Heads of many shapes and kinds at random rates, by seed.
inline void heads_at(std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  HeadsHarness unit(seed);
  std::mt19937 random(seed);
  for (const std::uint32_t columns :
       {2U, 4U, 6U, 8U, 10U, 14U, 30U, 32U, 34U, 48U, 64U, 66U, 96U, 128U, 254U, 256U}) {
    for (std::uint32_t kind = 0; kind < 8; ++kind) {
      const std::uint32_t rows = std::array{1U, 3U, 8U}[random() % 3];
      const std::uint32_t heads = 1 + static_cast<std::uint32_t>(random() % 7);
      HeadsCase heads_case(columns, heads, rows, random);
      heads_case.instruction.rotate = kind & 1;
      heads_case.instruction.norm = kind >> 1 & 1;
      heads_case.instruction.write_back = kind >> 2 & 1;
      heads_case.instruction.target = static_cast<std::uint32_t>(random() % 4);
      if (rows == 1) heads_case.pass_row = static_cast<std::uint32_t>(random() % 8);
      SCOPED_TRACE(testing::Message()
                   << columns << " columns, " << heads << " heads, " << rows << " rows, kind "
                   << kind << ", target " << heads_case.instruction.target << "");
      set_random_rates(unit, random);
      heads_case.prepare(unit);
      heads_case.run(unit);
      heads_case.check(unit);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace logos
