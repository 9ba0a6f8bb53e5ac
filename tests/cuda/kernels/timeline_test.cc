// How launches become a timeline; that it adds up on every cut: tests/contract/timeline_test.cc.
#include "cuda/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;

/// A byte takes a nanosecond, a gap a microsecond; nothing else takes time.
GpuConfig slow_gpu() {
  GpuConfig gpu;
  gpu.clock_mhz = 1000;
  gpu.multiprocessors = 1;
  gpu.max_threads = 1024;
  gpu.max_blocks = 1;
  gpu.hbm_gb_per_s = 1;
  gpu.hbm_efficiency = 1;
  gpu.l2_bytes = 1;
  gpu.int8_tensor_tops = 1000;
  gpu.int8_tensor_efficiency = 1;
  gpu.dp4a_per_clock = 1000;
  gpu.dp4a_efficiency = 1;
  gpu.fp32_per_clock = 1000;
  gpu.fp32_efficiency = 1;
  gpu.launch_us = 1;
  return gpu;
}

/// Lines 10, 10 and 11 in a fused launch on chip 0 (weights 1, 2, 1), then line 12 on chip 1.
class CudaTimeline : public ::testing::Test {
 protected:
  CudaTimeline() {
    plan_.chips = 2;
    plan_.operations = {{1, 10}, {1, 10}, {1, 11}, {2, 12}};
    plan_.groups = {{{}, {{0, 1}, {1, 2}, {2, 1}}, {}}, {{}, {{3, 7}}, {}}};
    for (const std::uint64_t bytes : {4000, 1000}) {
      LaunchRecord record{"fused", {}, {}, std::nullopt};
      record.declared.weight_bytes = bytes;
      records_.push_back(record);
    }
    records_[1].kernel = "alone";
    origins_ = {{0, 0, 4000, 9}, {1, 1, 1000, 5}};
  }
  Timeline make(const Timing& timing) const {
    return timeline_of(plan_, records_, origins_, slow_gpu(), timing);
  }

  Plan plan_;
  std::vector<LaunchRecord> records_;
  std::vector<LaunchOrigin> origins_;
};

TEST_F(CudaTimeline, PutsLaunchesEndToEndAndDividesAFusedOneByItsShares) {
  const Timeline timeline = make(modelled_timing(records_, 14, slow_gpu()));
  ASSERT_EQ(timeline.slices.size(), 5U);
  const auto expect = [&](std::size_t index, std::int32_t track, std::int32_t line, double begin,
                          double end, const char* name) {
    const Slice& slice = timeline.slices[index];
    EXPECT_EQ(slice.track, track);
    EXPECT_EQ(slice.line, line);
    EXPECT_NEAR(slice.begin_ns, begin, 1e-6);
    EXPECT_NEAR(slice.end_ns, end, 1e-6);
    EXPECT_EQ(slice.name, name);
  };
  expect(0, 0, 0, 0, 4000, "fused");
  expect(1, 1, 10, 0, 3000, "");
  expect(2, 1, 11, 3000, 4000, "");
  expect(3, 2, 0, 5000, 6000, "alone");
  expect(4, 3, 12, 5000, 6000, "");
  EXPECT_EQ(timeline.tracks[3].group, "chip 1");
  EXPECT_EQ(timeline.sampling, "");
}

TEST_F(CudaTimeline, GivesALineItsPartOfTheGapOfTheBytesAndOfTheMacs) {
  const Timeline timeline = make(modelled_timing(records_, 14, slow_gpu()));
  ASSERT_EQ(timeline.lines.size(), 4U);
  EXPECT_EQ(timeline.lines[1].line, 10);
  EXPECT_NEAR(timeline.lines[1].seconds, 3.75e-6, 1e-15);
  EXPECT_EQ(timeline.lines[1].bytes, 3000U);
  EXPECT_EQ(timeline.lines[1].macs + timeline.lines[2].macs, 9U);
  EXPECT_NEAR(timeline.lines[3].seconds, 2e-6, 1e-15);
}

TEST_F(CudaTimeline, ShowsTheBandwidthOfEachChip) {
  const Timeline timeline = make(modelled_timing(records_, 14, slow_gpu()));
  ASSERT_EQ(timeline.counters.size(), 2U);
  const auto& samples = timeline.counters[0].samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_NEAR(samples[0].value, 1, 1e-9);
  EXPECT_EQ(samples[1].value, 0);
}

TEST_F(CudaTimeline, SharesAMeasuredTimeAsTheModelHasItAndSaysSo) {
  const double modelled = modelled_timing(records_, 14, slow_gpu()).seconds;
  const Timeline timeline = make(measured_timing(3 * modelled, records_, 14, slow_gpu()));
  EXPECT_NEAR(timeline.slices[0].end_ns, 12000, 1e-6);
  EXPECT_THAT(timeline.sampling, HasSubstr("measured as a whole"));
}

}  // namespace
}  // namespace logos::cuda
