#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/reference/arithmetic.h"
#include "sim/reference/attention.h"
#include "tests/rtl/attend_harness.h"

namespace logos {
namespace {

using d5005::AttendStop;
using reference::HeadTrace;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<float> attended(const AttendCase& attend, std::int64_t row, std::int64_t key_head,
                            std::int64_t head, HeadTrace* trace) {
  std::vector<float> output(at(attend.shape().head_columns));
  reference::attend(attend.query(row, head), attend.query_exponent(row, head), attend.layer(row),
                    attend.shape().key_heads, key_head, attend.first_position(row),
                    attend.shape().positions[at(row)], output, *trace,
                    reference::Instructions::kPlain);
  return output;
}

/// The rows' outputs, +0 behind them, the peaks; nothing else of vector memory is touched but the
/// lanes of the first slice in front of the first element.
void check_outputs(const AttendCase& attend, const AttendHarness& harness,
                   std::vector<std::array<std::uint32_t, 32>> expected) {
  const auto i = attend.instruction();
  const std::int64_t columns = attend.shape().head_columns;
  for (const std::int64_t row : attend.rows()) {
    std::uint32_t peak = 0;
    const std::int64_t base = i.destination + row * i.destination_stride;
    const auto lane = [&](std::int64_t element) -> std::uint32_t& {
      return expected[at(base + element / 32)][at(element % 32)];
    };
    for (std::int64_t e = attend.shape().first / 4 * 4; e < attend.shape().first; ++e) lane(e) = 0;
    std::int64_t end = attend.shape().first;
    for (const std::int64_t key_head : attend.key_heads()) {
      const auto [begin_head, end_head] = attend.heads_of(key_head);
      for (std::int64_t head = begin_head; head < end_head; ++head) {
        HeadTrace trace;
        const auto output = attended(attend, row, key_head, head, &trace);
        for (std::int64_t c = 0; c < columns; ++c) {
          end = attend.shape().first + head * columns + c;
          lane(end++) = std::bit_cast<std::uint32_t>(output[at(c)]);
          peak = std::max(peak, reference::magnitude_bits(output[at(c)]));
        }
      }
    }
    for (; end % 32 != 0; ++end) lane(end) = 0;
    EXPECT_EQ(harness.peak(row), peak) << "row " << row;
  }
  std::size_t wrong = 0;
  for (std::size_t word = 0; word < expected.size(); ++word) {
    for (std::size_t l = 0; l < 32; ++l) {
      if (harness.vectors[word][l] != expected[word][l] && ++wrong <= 8) {
        ADD_FAILURE() << "word " << word << " lane " << l << std::hex << ": got "
                      << harness.vectors[word][l] << ", want " << expected[word][l];
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
}

/// The last pair's scores, or weights and sums; those that take no part are 0.
void check_observed(const AttendCase& attend, AttendHarness* harness) {
  const std::int64_t row = attend.rows().back();
  const std::int64_t key_head = attend.key_heads().back();
  const std::int64_t first = attend.first_position(row);
  const std::int64_t start = first / 128 * 128;
  const bool scores = attend.shape().stop == AttendStop::kToScores;
  const auto [begin_head, end_head] = attend.heads_of(key_head);
  for (std::int64_t head = begin_head; head < end_head; ++head) {
    HeadTrace trace;
    attended(attend, row, key_head, head, &trace);
    for (std::int64_t t = start; t <= attend.shape().positions[at(row)]; t += 4) {
      const auto observed = harness->observe(head - begin_head, (t - start) / 4);
      for (std::int64_t b = 0; b < 4; ++b) {
        std::uint32_t want = 0;
        if (t + b >= first && t + b <= attend.shape().positions[at(row)]) {
          want = scores ? std::bit_cast<std::uint32_t>(trace.scores[at(t + b - first)])
                        : static_cast<std::uint32_t>(trace.weights[at(t + b - first)]);
        }
        ASSERT_EQ(observed.quad[at(b)], want) << "head " << head << " position " << t + b;
      }
      if (!scores) {
        ASSERT_EQ(observed.sum, trace.weight_sum) << "head " << head;
      }
    }
  }
}

void check(AttendHarness* harness, const AttendShape& shape, std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << " columns " << shape.head_columns
                                  << " group " << shape.group << " rows "
                                  << shape.positions.size());
  const AttendCase attend(shape, seed);
  const auto before = harness->vectors;
  harness->run(attend);
  if (testing::Test::HasFatalFailure()) return;
  if (shape.stop == AttendStop::kWhole) {
    check_outputs(attend, *harness, before);
  } else {
    EXPECT_TRUE(harness->vectors == before);
    check_observed(attend, harness);
  }
}

TEST(AttendUnit, AttendsOnePosition) {
  AttendHarness harness(1);
  check(&harness, {}, 1);
}

TEST(AttendUnit, AttendsEveryKindOfHead) {
  AttendHarness harness(2);
  std::uint32_t seed = 100;
  for (const std::int64_t columns : {8, 48, 64, 128, 6, 256}) {
    for (const std::int64_t group : {1, 2, 4, 7, 8, 16}) {
      AttendShape shape;
      shape.head_columns = columns;
      shape.group = group;
      shape.key_heads = 1 + seed % 3;
      shape.positions = {static_cast<std::int64_t>(seed * 37 % 160)};
      harness.set_rates(seed % 2 == 0 ? 100 : 60, seed % 3 == 0 ? 20 : 100);
      check(&harness, shape, ++seed);
      if (HasFailure()) return;
    }
  }
}

TEST(AttendUnit, AttendsEveryEndOfABlock) {
  AttendHarness harness(3);
  for (std::int64_t position = 0; position < 300; position += position < 10 ? 1 : 23) {
    AttendShape shape;
    shape.head_columns = 8;
    shape.positions = {position};
    check(&harness, shape, static_cast<std::uint32_t>(position));
  }
  for (const std::int64_t position : {127, 128, 255, 256}) {
    AttendShape shape;
    shape.positions = {position, position + 1};
    check(&harness, shape, static_cast<std::uint32_t>(position));
  }
}

TEST(AttendUnit, KeepsToTheWindow) {
  AttendHarness harness(4);
  std::uint32_t seed = 300;
  for (const std::int64_t window : {1, 2, 5, 100, 128, 129, 300}) {
    AttendShape shape;
    shape.group = 1 + window % 5;
    shape.head_columns = 48;
    shape.window = window;
    shape.positions = {window - 1, 310, 255, 128};
    shape.key_heads = 2;
    check(&harness, shape, ++seed);
  }
}

TEST(AttendUnit, AttendsBatchesAndChunks) {
  AttendHarness harness(5);
  harness.set_rates(80, 50);
  for (const bool one_cache : {false, true}) {
    for (const std::int64_t rows : {1, 3, 8}) {
      AttendShape shape;
      shape.head_columns = rows == 3 ? 48 : 64;
      shape.group = rows == 8 ? 2 : 7;
      shape.key_heads = 2;
      shape.one_cache = one_cache;
      shape.positions.clear();
      for (std::int64_t r = 0; r < rows; ++r) {
        shape.positions.push_back(one_cache ? 90 + r : (r * 61 + 7) % 150);
      }
      check(&harness, shape, static_cast<std::uint32_t>(500 + rows));
    }
  }
}

TEST(AttendUnit, AttendsOneRowOfAPass) {
  AttendHarness harness(6);
  AttendShape shape;
  shape.positions = {33};
  shape.pass_row = 5;
  check(&harness, shape, 601);
  shape.pass_row = 0;
  shape.positions = {5, 77, 12};
  shape.only_row = 1;
  shape.key_heads = 3;
  check(&harness, shape, 602);
}

TEST(AttendUnit, AttendsAShareOfTheHeads) {
  AttendHarness harness(7);
  std::uint32_t seed = 700;
  for (const std::int64_t columns : {6, 8, 64, 48}) {
    for (const std::int64_t first : {0, 2, 16, 30}) {
      AttendShape shape;
      shape.head_columns = columns;
      shape.group = 3;
      shape.key_heads = 3;
      shape.missing_front = first % 3;
      shape.missing_back = 1 + columns % 2;
      shape.first = columns == 6 ? first : first / 4 * 4;
      shape.positions = {20, 21};
      check(&harness, shape, ++seed);
    }
  }
}

TEST(AttendUnit, StopsForAnObserver) {
  AttendHarness harness(8);
  std::uint32_t seed = 800;
  for (const AttendStop stop : {AttendStop::kToScores, AttendStop::kToWeights}) {
    for (const std::int64_t group : {1, 4, 7, 16}) {
      AttendShape shape;
      shape.group = group;
      shape.head_columns = group == 7 ? 128 : 8;
      shape.stop = stop;
      shape.positions = {140, 3, 190};
      shape.window = group == 4 ? 50 : 0;
      shape.key_heads = 3;
      check(&harness, shape, ++seed);
      shape.only_row = 0;
      shape.only_head = 1;
      check(&harness, shape, ++seed);
    }
  }
  check(&harness, {}, 899);
}

TEST(AttendUnit, HidesTheExponentials) {
  AttendHarness harness(9);
  AttendShape shape;
  shape.positions = {1023};
  std::int64_t cycles[2];
  for (const std::int64_t pairs : {4, 8}) {
    shape.key_heads = pairs;
    const AttendCase attend(shape, 900);
    cycles[pairs / 8] = harness.run(attend).cycles;
  }
  const double per_group = static_cast<double>(cycles[1] - cycles[0]) / 4;
  RecordProperty("cycles_per_group", std::to_string(per_group));
  // 1,024 beats and 8 of exponents; the exponentials take as long.
  EXPECT_LE(per_group, 1024 + 24);
  EXPECT_GE(per_group, 1024);
}

}  // namespace
}  // namespace logos
