// The trace file: what it holds, and that it is one whatever a lane's timeline holds.
#include "bench/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "tests/bench/trace_checker.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A report of one cut on one lane with this timeline.
Report report_with(Timeline timeline, const std::string& text = "# A\n\n    Let x be 1.\n") {
  Result result{1, 1, {0}, std::nullopt, Timing(TimeClass::kRtl, 1e-6)};
  result.timeline = std::make_shared<Timeline>(std::move(timeline));
  CutOutcome cut;
  cut.plan.cut = Cut::parse("decode:2");
  cut.plan.text = text;
  LaneOutcome lane;
  lane.lane = "d5005";
  lane.ending = Ending::kRan;
  lane.result = std::move(result);
  cut.lanes.push_back(std::move(lane));
  Report report;
  report.model = "kjv";
  report.cuts.push_back(std::move(cut));
  return report;
}

Timeline one_track() {
  Timeline timeline;
  timeline.tracks = {{"units", "product"}};
  return timeline;
}

json trace_of(const Report& report) {
  const std::string text = trace_json(report);
  EXPECT_EQ(fault_of_trace(text), "") << text;
  return json::parse(text);
}

TEST(Trace, NamesProcessesTracksLinesAndCounters) {
  Timeline timeline = one_track();
  timeline.slices = {{0, 3, 2, 1000, 3500.4}};
  timeline.counters = {{0, "busy", "fraction", {{0, 0.5}, {1500, 1}}}};
  timeline.sampling = "every second one";
  const json trace = trace_of(report_with(timeline));
  EXPECT_EQ(trace["displayTimeUnit"], "ns");
  EXPECT_EQ(trace["otherData"]["model"], "kjv");
  EXPECT_EQ(trace["otherData"]["runs"][0]["sampling"], "every second one");
  const json names = events_of(trace, "M");
  EXPECT_EQ(names[0]["args"]["name"], "decode:2 on d5005");
  EXPECT_EQ(names[2]["args"]["labels"], "rtl; sampled: every second one");
  EXPECT_EQ(names[3]["args"]["name"], "units: product");
  const json slices = events_of(trace, "X");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0]["name"], "3 Let x be 1.");
  EXPECT_EQ(slices[0]["ts"], 1.0);
  EXPECT_EQ(slices[0]["dur"], 2.5);
  EXPECT_EQ(slices[0]["args"]["line"], 3);
  EXPECT_EQ(slices[0]["args"]["layer"], 2);
  const json counters = events_of(trace, "C");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[1]["name"], "units product: busy");
  EXPECT_EQ(counters[1]["args"]["fraction"], 1.0);
}

TEST(Trace, OfNoRunIsOneWithoutEvents) {
  Report report;
  EXPECT_EQ(trace_of(report)["traceEvents"].size(), 0u);
  report = report_with({});
  report.cuts[0].lanes[0].result.reset();  // a lane that refused
  EXPECT_EQ(trace_of(report)["traceEvents"].size(), 0u);
}

TEST(Trace, GivesEachCutAndLaneAProcess) {
  Timeline timeline = one_track();
  timeline.slices = {{0, 1, 0, 0, 1}};
  Report report = report_with(timeline);
  report.cuts.push_back(report.cuts[0]);
  report.cuts[1].plan.cut = Cut::parse("prefill:4");
  report.cuts[1].lanes.push_back(report.cuts[1].lanes[0]);
  report.cuts[1].lanes[1].lane = "cuda";
  std::vector<std::string> names;
  for (const json& event : events_of(trace_of(report), "M")) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("decode:2 on d5005", "prefill:4 on d5005", "prefill:4 on cuda"));
}

TEST(Trace, HasTimesFromZeroUpAndLengthsThatAreNotNegative) {
  Timeline timeline = one_track();
  timeline.slices = {
      {0, 1, 0, -5, 2}, {0, 1, 0, 4, 3}, {0, 1, 0, kNan, 1}, {0, 1, 0, 2, kInfinity}};
  const json slices = events_of(trace_of(report_with(timeline)), "X");
  EXPECT_EQ(slices.size(), 4u);
}

TEST(Trace, LeavesOutACountersValueThatIsNoNumber) {
  Timeline timeline = one_track();
  timeline.counters = {{0, "busy", "fraction", {{0, kNan}, {1, kInfinity}, {2, 0.25}}}};
  const json counters = events_of(trace_of(report_with(timeline)), "C");
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0]["args"]["fraction"], 0.25);
}

TEST(Trace, SortsWhatIsOutOfOrderAndEndsWhatOverlaps) {
  Timeline timeline = one_track();
  timeline.slices = {{0, 1, 0, 50, 60}, {0, 1, 0, 0, 20}, {0, 1, 0, 10, 30}, {0, 1, 0, 0, 40}};
  timeline.counters = {{0, "busy", "fraction", {{5, 1}, {0, 0}}}};
  const json slices = events_of(trace_of(report_with(timeline)), "X");
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0]["dur"], 0.04);  // the parent before its child at an equal begin
  EXPECT_EQ(slices[1]["dur"], 0.02);
  EXPECT_EQ(slices[2]["dur"], 0.01);  // to the end of what it began in
}

TEST(Trace, KeepsSlicesInOrderThatBeginTogetherOnlyOnceTheyAreRounded) {
  Timeline timeline = one_track();
  timeline.slices = {{0, 1, 0, 10.1, 10.3}, {0, 1, 0, 10.3, 25}, {0, 1, 0, 25, 25.2}};
  trace_of(report_with(timeline));
}

TEST(Trace, IsValidUtf8WhateverTheTextHolds) {
  Timeline timeline = one_track();
  timeline.tracks[0].name = "a\xff\"b";
  timeline.slices = {{0, 1, 0, 0, 1}, {0, 0, 0, 2, 3, "\x1b[31m\xc3"}};
  std::string line = "\x80\"\\</script>\t";
  for (int i = 0; i < 100; ++i) line += "\xc3\xa9";  // cut in the middle of none
  const json trace = trace_of(report_with(timeline, line + "\n"));
  EXPECT_THAT(events_of(trace, "X")[0]["name"].get<std::string>(), HasSubstr("\\x80\"\\</script>"));
}

TEST(Trace, NamesALineThatTheTextDoesNotHaveByItsNumber) {
  Timeline timeline = one_track();
  timeline.slices = {{0, 99, 0, 0, 1}};
  EXPECT_EQ(events_of(trace_of(report_with(timeline)), "X")[0]["name"], "line 99");
}

// The checker itself: each fault is found.
struct Fault {
  std::string events;
  std::string found;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.found; }
class TraceChecker : public testing::TestWithParam<Fault> {};

constexpr const char* kNames =
    R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"p"}},)"
    R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}})";

TEST_P(TraceChecker, Finds) {
  const std::string text =
      R"({"displayTimeUnit":"ns","traceEvents":[)" + GetParam().events + "]}\n";
  EXPECT_THAT(fault_of_trace(text), HasSubstr(GetParam().found));
}

std::string slices(const std::string& more) { return std::string(kNames) + "," + more; }
std::string slice(const std::string& begin, const std::string& length) {
  return R"({"ph":"X","pid":1,"tid":1,"name":"s","ts":)" + begin + R"(,"dur":)" + length + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TraceChecker,
    testing::Values(
        Fault{slices(slice("NaN", "1")), "not strict JSON"},
        Fault{slices(slice("-1", "1")), "ts below 0"},
        Fault{slices(slice("1", "-1")), "dur below 0"},
        Fault{slices(slice("1e999", "1")), "not strict JSON"},
        Fault{slices(slice("5", "1") + "," + slice("4", "1")), "out of order"},
        Fault{slices(slice("5", "3") + "," + slice("6", "3")), "overlap"},
        Fault{slices(slice("5", "1") + "," + slice("5", "3")), "a child before its parent"},
        Fault{slice("5", "1"), "has no name"},
        Fault{R"({"ph":"C","pid":2,"name":"c","ts":0,"args":{"u":1}})", "has no name"},
        Fault{slices(R"({"ph":"C","pid":1,"name":"c","ts":0,"args":{"u":null}})"), "no number"},
        Fault{slices(R"({"ph":"X","ph":"X","pid":1})"), "stands twice"},
        Fault{slices(R"({"ph":"Q","pid":1})"), "phase that is none"},
        Fault{slices("{\"ph\":\"\xff\",\"pid\":1}"), "not strict JSON"}));

TEST(TraceChecker, FindsAMissingUnitAndAMissingEnd) {
  EXPECT_THAT(fault_of_trace("{\"traceEvents\":[]}\n"), HasSubstr("time unit"));
  EXPECT_THAT(fault_of_trace(R"({"displayTimeUnit":"ns","traceEvents":[]})"),
              HasSubstr("line feed"));
}

}  // namespace
}  // namespace logos::bench
