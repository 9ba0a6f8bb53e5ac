// What every lane owes where a run is asked for its timeline: the same bits and the same time, and
// a timeline that adds up to that time.
#include "sim/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "tests/contract/contract.h"

namespace logos::contract {
namespace {

struct Case {
  std::string family;
  std::string cut;
  std::int64_t chips;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.family << " " << c.cut << " on " << c.chips;
}

using LaneCase = std::tuple<std::string, Case>;
class Timelines : public ::testing::TestWithParam<LaneCase> {
 protected:
  Result run_case(bool timeline) {
    const auto& [name, c] = GetParam();
    const Job job(c.family, c.cut, c.chips);
    const bench::LaneEntry entry = lane_named(name);
    const Artifact artifact = entry.lane->lower(job.text, job.identity, *job.weights, entry.config);
    Inputs inputs = inputs_of(job, 7);
    RunOptions options;
    options.timeline = timeline;
    return entry.lane->run(artifact, job.identity, *job.weights, entry.config, inputs, options);
  }
  std::size_t lines() const {
    const Case& c = std::get<1>(GetParam());
    return Job(c.family, c.cut, c.chips).programs.front().lines.size();
  }
};

std::uint64_t total_bytes(const Timing& timing, const std::string& memory) {
  if (memory != "ddr") return timing.bytes.at(memory);
  std::uint64_t bytes = 0;  // all banks of it
  for (const auto& [name, count] : timing.bytes) bytes += name.starts_with("ddr") ? count : 0;
  return bytes;
}

TEST_P(Timelines, ChangeNothingElse) {
  const Result without = run_case(false);
  const Result with = run_case(true);
  EXPECT_EQ(without.timeline, nullptr);
  EXPECT_TRUE(same_outputs(without, with));
  EXPECT_EQ(without.timing.cycles, with.timing.cycles);
  EXPECT_EQ(without.timing.cycles_by_category, with.timing.cycles_by_category);
  EXPECT_EQ(without.timing.bytes, with.timing.bytes);
}

TEST_P(Timelines, AddUpToTheRun) {
  const Result result = run_case(true);
  ASSERT_NE(result.timeline, nullptr);
  const Timeline& timeline = *result.timeline;
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t macs = 0;
  std::int32_t before = -1;
  for (const LineUse& use : timeline.lines) {
    EXPECT_GT(use.line, before);
    EXPECT_LE(use.line, static_cast<std::int32_t>(lines()));
    EXPECT_GE(use.seconds, 0);
    before = use.line;
    seconds += use.seconds;
    bytes += use.bytes;
    macs += use.macs;
  }
  EXPECT_NEAR(seconds, result.timing.seconds, result.timing.seconds * 1e-9);
  EXPECT_EQ(bytes, total_bytes(result.timing, timeline.memory));
  EXPECT_EQ(macs, result.timing.macs);
}

TEST_P(Timelines, HaveSlicesInOrderNestedAndWithinTheRun) {
  const Result result = run_case(true);
  ASSERT_NE(result.timeline, nullptr);
  const Timeline& timeline = *result.timeline;
  const double last_ns = result.timing.seconds * 1e9 * (1 + 1e-9);
  std::set<std::int32_t> told;
  std::vector<Slice> open;
  std::pair<std::int32_t, double> before{-1, 0};
  for (const Slice& slice : timeline.slices) {
    ASSERT_LT(static_cast<std::size_t>(slice.track), timeline.tracks.size());
    ASSERT_GE(slice.begin_ns, 0);
    ASSERT_LE(slice.begin_ns, slice.end_ns);
    ASSERT_LE(slice.end_ns, last_ns);
    ASSERT_LE(before, std::pair(slice.track, slice.begin_ns));
    EXPECT_NE(slice.line == 0, slice.name.empty()) << slice.name;
    if (slice.track != before.first) open.clear();
    while (!open.empty() && open.back().end_ns <= slice.begin_ns) open.pop_back();
    if (!open.empty()) {
      ASSERT_LE(slice.end_ns, open.back().end_ns);
    }
    open.push_back(slice);
    before = {slice.track, slice.begin_ns};
    told.insert(slice.line);
  }
  for (const LineUse& use : timeline.lines) {
    if (use.line > 0 && use.seconds > 0) {
      EXPECT_TRUE(told.contains(use.line)) << use.line;
    }
  }
}

TEST_P(Timelines, HaveTracksWithNamesOfTheirOwnAndFiniteCounters) {
  const Result result = run_case(true);
  ASSERT_NE(result.timeline, nullptr);
  const Timeline& timeline = *result.timeline;
  std::set<std::pair<std::string, std::string>> names;
  for (const Track& track : timeline.tracks) {
    EXPECT_FALSE(track.group.empty() || track.name.empty());
    EXPECT_TRUE(names.emplace(track.group, track.name).second) << track.group << track.name;
  }
  for (const Counter& counter : timeline.counters) {
    ASSERT_LT(static_cast<std::size_t>(counter.track), timeline.tracks.size());
    EXPECT_FALSE(counter.name.empty() || counter.unit.empty());
    EXPECT_FALSE(counter.samples.empty());
    double before = -1;
    for (const Sample& sample : counter.samples) {
      ASSERT_GT(sample.ns, before);
      ASSERT_TRUE(std::isfinite(sample.value) && sample.value >= 0);
      before = sample.ns;
    }
    EXPECT_LE(before, result.timing.seconds * 1e9 * (1 + 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lanes, Timelines,
    ::testing::Combine(::testing::ValuesIn(lane_names()),
                       ::testing::Values(Case{"kjv", "decode:5", 1}, Case{"qwen2", "prefill:7", 2},
                                         Case{"qwen3", "batch:3x4", 1},
                                         Case{"mistral", "layer:2@decode:5", 3},
                                         Case{"llama", "head@batch:3x4", 1})),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace logos::contract
