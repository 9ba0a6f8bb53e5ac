// What all lanes make their timelines with.
#include "sim/timeline_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace logos {
namespace {

TEST(LineUses, GiveLineZeroWhatIsLeftOfTheRun) {
  LineUses uses;
  uses.of(7).seconds += 2;
  uses.of(3).seconds += 1;
  uses.of(7).bytes += 5;
  const std::vector<LineUse> lines = uses.of_run(10);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].line, 0);
  EXPECT_EQ(lines[0].seconds, 7);
  EXPECT_EQ(lines[1].line, 3);
  EXPECT_EQ(lines[2].line, 7);
  EXPECT_EQ(lines[2].bytes, 5u);
}

TEST(LineUses, OfMoreThanTheRunLeaveNothing) {
  LineUses uses;
  uses.of(1).seconds += 1 + 1e-16;
  EXPECT_EQ(uses.of_run(1).front().seconds, 0);
}

TEST(Order, IsByTrackThenByBeginTheLongerFirst) {
  Timeline timeline;
  timeline.slices = {{1, 1, 0, 0, 1}, {0, 2, 0, 5, 6}, {0, 3, 0, 2, 3}, {0, 4, 0, 2, 9}};
  put_in_order(timeline);
  std::vector<std::int32_t> lines;
  for (const Slice& slice : timeline.slices) lines.push_back(slice.line);
  EXPECT_THAT(lines, testing::ElementsAre(4, 3, 2, 1));
}

TEST(Order, KeepsTheLastSampleOfATime) {
  Timeline timeline;
  timeline.counters = {{0, "read", "GB/s", {{3, 1}, {0, 2}, {3, 4}}}};
  put_in_order(timeline);
  const auto& samples = timeline.counters[0].samples;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].ns, 3);
  EXPECT_EQ(samples[1].value, 4);
}

TEST(Thinning, LeavesAShortTimelineAsItIs) {
  Timeline timeline;
  timeline.slices = {{0, 1, 0, 0, 1}};
  timeline.counters = {{0, "read", "GB/s", {{0, 1}, {1, 2}}}};
  thin(timeline, 1, 2);
  EXPECT_EQ(timeline.slices.size(), 1u);
  EXPECT_EQ(timeline.counters[0].samples.size(), 2u);
  EXPECT_EQ(timeline.sampling, "");
}

TEST(Thinning, KeepsTheLongestSlicesWithWhatTheyLieIn) {
  Timeline timeline;
  timeline.slices = {{0, 1, 0, 0, 8}, {0, 2, 0, 0, 8}, {0, 3, 0, 2, 3}, {0, 4, 0, 9, 12}};
  thin(timeline, 2, 2);
  ASSERT_EQ(timeline.slices.size(), 2u);
  EXPECT_EQ(timeline.slices[0].line, 1);
  EXPECT_EQ(timeline.slices[1].line, 2);
  EXPECT_EQ(timeline.sampling, "of 4 slices the 2 longest");
}

TEST(Thinning, KeepsTheMeanOfCounters) {
  Timeline timeline;
  timeline.sampling = "a run as a whole";
  Counter counter{0, "read", "GB/s", {}};
  for (int i = 0; i < 1000; ++i) counter.samples.push_back({i * 1.0, i % 2 == 0 ? 2.0 : 4.0});
  counter.samples.push_back({1000, 0});
  timeline.counters = {counter};
  thin(timeline, 1, 11);
  const auto& samples = timeline.counters[0].samples;
  ASSERT_EQ(samples.size(), 11u);
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    EXPECT_DOUBLE_EQ(samples[i].ns, static_cast<double>(i) * 100);
    EXPECT_DOUBLE_EQ(samples[i].value, 3);
  }
  EXPECT_EQ(samples.back().ns, 1000);
  EXPECT_EQ(samples.back().value, 0);
  EXPECT_EQ(timeline.sampling, "a run as a whole; counters as 11 means each");
}

TEST(Thinning, OfACounterThatHoldsAcrossStretchesKeepsItsValue) {
  Timeline timeline;
  timeline.counters = {{0, "read", "GB/s", {{0, 6}, {1, 6}, {99, 3}, {100, 0}}}};
  thin(timeline, 1, 3);
  const auto& samples = timeline.counters[0].samples;
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_DOUBLE_EQ(samples[0].value, 6);
  EXPECT_DOUBLE_EQ(samples[1].value, (49 * 6 + 3) / 50.0);
}

}  // namespace
}  // namespace logos
