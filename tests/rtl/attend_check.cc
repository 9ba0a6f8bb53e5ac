#include "tests/rtl/attend_check.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/reference/arithmetic.h"
#include "sim/reference/attention.h"

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

}  // namespace

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

namespace {

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

}  // namespace

void check_attend(AttendHarness* harness, const AttendShape& shape, std::uint32_t seed) {
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

}  // namespace logos
