#include "bench/page/timeline_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/bench/page/sample.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

double sum_of(const nlohmann::ordered_json& numbers) {
  double sum = 0;
  for (const auto& number : numbers) sum += number.get<double>();
  return sum;
}

TEST(ThePagesTimeline, SaysHowBusyEachTrackWasAndWithWhichLine) {
  Timeline timeline;
  timeline.tracks = {{"units", "product"}};
  timeline.slices = {{0, 7, 1, 0, 60}, {0, 9, 1, 90, 120}};
  const auto json = timeline_json(timeline);
  const auto& track = json["tracks"][0];
  EXPECT_EQ(track["group"], "units");
  EXPECT_EQ(track["name"], "product");
  const auto bins = json["bins"].get<std::size_t>();
  ASSERT_EQ(track["busy"].size(), bins);
  EXPECT_EQ(json["end_ns"], 120);
  EXPECT_NEAR(sum_of(track["busy"]) / static_cast<double>(bins), 0.75, 1e-9);
  EXPECT_EQ(track["busy"][0], 1);
  EXPECT_EQ(track["line"][0], 7);
  EXPECT_EQ(track["busy"][bins * 5 / 8], 0);
  EXPECT_EQ(track["line"][bins - 1], 9);
}

TEST(ThePagesTimeline, CountsOnlyTheInnermostOfNestedSlices) {
  Timeline timeline;
  timeline.tracks = {{"units", "product"}};
  timeline.slices = {{0, 1, 0, 0, 100}, {0, 2, 0, 20, 80}, {0, 3, 0, 20, 40}};
  const auto json = timeline_json(timeline);
  const auto& track = json["tracks"][0];
  const auto bins = json["bins"].get<std::size_t>();
  EXPECT_NEAR(sum_of(track["busy"]), static_cast<double>(bins), 1e-9);
  EXPECT_EQ(track["line"][bins / 10], 1);
  EXPECT_EQ(track["line"][bins * 3 / 10], 3);
  EXPECT_EQ(track["line"][bins * 6 / 10], 2);
  EXPECT_EQ(track["line"][bins * 9 / 10], 1);
}

TEST(ThePagesTimeline, DrawsAlsoWhatWorksForAShortTimeAtTheEnd) {
  Timeline timeline;
  for (int i = 0; i < 100; ++i) {
    timeline.tracks.push_back({"tiles", std::to_string(i)});
    if (i == 50) {
      timeline.slices.push_back({i, 1, 0, 96, 100});
    } else {
      timeline.slices.push_back({i, 1, 0, 0, 90});
    }
  }
  const auto json = timeline_json(timeline);
  ASSERT_EQ(json["tracks"].size(), 24u);
  EXPECT_TRUE(std::any_of(json["tracks"].begin(), json["tracks"].end(),
                          [](const auto& track) { return track["name"] == "50"; }));
}

TEST(ThePagesTimeline, DoesNotCountAWaitAsWork) {
  Timeline timeline;
  timeline.tracks = {{"tiles", "0,0"}};
  timeline.slices = {{0, 4, 1, 0, 100}, {0, 0, 1, 25, 75, "wait"}};
  const auto json = timeline_json(timeline);
  const auto& track = json["tracks"][0];
  const auto bins = json["bins"].get<std::size_t>();
  EXPECT_NEAR(sum_of(track["busy"]) / static_cast<double>(bins), 0.5, 1e-9);
  EXPECT_EQ(track["busy"][bins / 2], 0);
  EXPECT_EQ(track["line"][0], 4);
}

TEST(ThePagesTimeline, KeepsTheAreaUnderALongCounterAndSaysSo) {
  Timeline timeline;
  timeline.tracks = {{"banks", "bank 0"}};
  Counter counter{0, "read", "GB/s", {}};
  for (int i = 0; i < 10000; ++i)
    counter.samples.push_back({static_cast<double>(i), i % 10 == 0 ? 10.0 : 0.0});
  timeline.counters = {counter};
  const auto json = timeline_json(timeline);
  const auto& samples = json["counters"][0]["samples"];
  EXPECT_EQ(samples.size(), json["bins"].get<std::size_t>());
  double sum = 0;
  for (const auto& sample : samples) sum += sample[1].get<double>();
  EXPECT_NEAR(sum / static_cast<double>(samples.size()), 1.0, 0.01);
  EXPECT_THAT(json["decimation"].get<std::string>(), HasSubstr("10000 samples as means over"));
  EXPECT_EQ(json["counters"][0]["track"], "bank 0");
}

TEST(ThePagesTimeline, LeavesAShortCounterAsItIs) {
  Timeline timeline;
  timeline.counters = {{0, "read", "GB/s", {{0, 1.25}, {7.5, 3}}}};
  const auto json = timeline_json(timeline);
  EXPECT_EQ(json["counters"][0]["samples"].dump(), "[[0.0,1.25],[7.5,3.0]]");
  EXPECT_EQ(json["decimation"], "");
}

TEST(ThePagesTimeline, IsOfBoundedSizeAndNamesWhatIsLeftOut) {
  Timeline timeline;
  for (int i = 0; i < 500; ++i) {
    timeline.tracks.push_back({"tiles", std::to_string(i)});
    timeline.slices.push_back({i, 1, 1, 0, 1.0 + i});
    timeline.counters.push_back({i, "busy", "fraction", {{0, 1}}});
  }
  const auto json = timeline_json(timeline);
  EXPECT_EQ(json["tracks"].size(), 24);
  EXPECT_EQ(json["tracks"][23]["name"], "499");  // the busiest are kept
  EXPECT_THAT(json["decimation"].get<std::string>(),
              HasSubstr("tiles: the 24 busiest of 500 tracks"));
  EXPECT_THAT(json["decimation"].get<std::string>(), HasSubstr("476 more counters"));
}

TEST(ThePagesTimeline, OfARunWithoutTimeHasNoTracks) {
  Timeline timeline;
  timeline.tracks = {{"units", "product"}};
  timeline.slices = {{0, 1, 1, 0, 0}};
  const auto json = timeline_json(timeline);
  EXPECT_TRUE(json["tracks"].empty());
  EXPECT_EQ(json["end_ns"], 0);
}

TEST(ThePagesTimeline, HasEveryLineWithItsUse) {
  const Timeline timeline = sample_timeline(1e-3);
  const auto json = timeline_json(timeline);
  ASSERT_EQ(json["lines"].size(), timeline.lines.size());
  EXPECT_EQ(json["lines"][1].dump(), R"({"line":32,"seconds":4e-05,"bytes":25000,"macs":19000})");
  EXPECT_EQ(json["memory"], "ddr");
}

}  // namespace
}  // namespace logos::bench
