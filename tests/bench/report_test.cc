#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace logos::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

LaneOutcome ran(const std::string& name, Timing timing) {
  LaneOutcome lane;
  lane.lane = name;
  lane.ending = Ending::kRan;
  lane.repeated_seconds = {timing.seconds};
  lane.result = Result{1, 2, {1.0f, 2.0f}, std::nullopt, std::move(timing)};
  lane.output_sha256 = "abcdef0123456789";
  return lane;
}

Report one_cut(std::vector<LaneOutcome> lanes) {
  Report report;
  report.model = "m";
  CutOutcome cut;
  cut.plan.cut = Cut::parse("prefill:4");
  cut.plan.identity = {"prefill:4", 1, "aa"};
  cut.compared_with = "reference";
  cut.lanes = std::move(lanes);
  report.cuts.push_back(std::move(cut));
  return report;
}

std::string console(std::vector<LaneOutcome> lanes, bool color = false, std::size_t columns = 0) {
  return report_console(one_cut(std::move(lanes)), color, columns);
}

Timing full_timing() {
  Timing timing(TimeClass::kModelled, 0.25);
  timing.cycles = 1000;
  timing.clock_hz = 1e9;
  timing.bytes = {{"hbm", 123}, {"sram", 7}};
  timing.macs = 55;
  timing.cycles_by_category = {100, 200, 300, 150, 50, 200};
  timing.bound = Bound{"hbm", 0.5};
  timing.remark = "uncalibrated";
  return timing;
}

TEST(JsonReport, HasNullWhereALaneHasNoFigure) {
  const auto lane = report_json(
      one_cut({ran("reference", Timing(TimeClass::kMeasured, 0.5))}))["cuts"][0]["lanes"][0];
  for (const char* key : {"cycles", "clock_hz", "bytes", "cycles_by_category", "bound"}) {
    ASSERT_TRUE(lane.contains(key)) << key;
    EXPECT_TRUE(lane[key].is_null()) << key;
  }
  EXPECT_EQ(lane["tokens_per_second"], 8.0);
  EXPECT_EQ(lane["fault"], false);
  EXPECT_FALSE(lane.contains("first_divergence"));
}

TEST(JsonReport, IsStrictAlsoForTimesThatAreNoNumbers) {
  for (const double seconds :
       {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Timing timing = full_timing();
    timing.seconds = seconds;
    timing.bound = Bound{"hbm", seconds / 0.0};
    const std::string text = json_text(report_json(one_cut({ran("cuda", timing)})));
    const auto back = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(back.is_discarded()) << text;
    const auto& lane = back["cuts"][0]["lanes"][0];
    EXPECT_TRUE(lane["bound"]["fraction"].is_null());
    if (!(seconds > 0)) {
      EXPECT_TRUE(lane["tokens_per_second"].is_null());
    }
  }
}

TEST(JsonReport, ReplacesInvalidUtf8) {
  LaneOutcome lane = ran("cuda", full_timing());
  lane.ending = Ending::kFailed;
  lane.reason = "bad \xFF byte";
  EXPECT_TRUE(nlohmann::json::accept(json_text(report_json(one_cut({lane})))));
}

TEST(JsonReport, AFaultIsItsLine) {
  LaneOutcome lane = ran("cuda", full_timing());
  lane.result->fault = FaultSite{2, 31};
  EXPECT_EQ(report_json(one_cut({lane}))["cuts"][0]["lanes"][0]["fault"], 31);
}

TEST(JsonReport, ADivergenceOutsideTheLayersHasNoLayer) {
  LaneOutcome lane = ran("cuda", full_timing());
  lane.agrees = false;
  lane.divergence = Divergence{0, 40, "logits", "Show x.", 3, 9, "3F800000", "3F800001"};
  const auto divergence = report_json(one_cut({lane}))["cuts"][0]["lanes"][0]["first_divergence"];
  EXPECT_EQ(divergence.dump(), R"({"layer":null,"line":40,"text":"Show x.","element":[3,9],)"
                               R"("expected":"3F800000","got":"3F800001"})");
}

TEST(JsonReport, LanesThatDidNotRunAreLeftOut) {
  LaneOutcome idle;
  idle.lane = "cuda";
  EXPECT_TRUE(report_json(one_cut({idle}))["cuts"].empty());
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  for (const char c : line) {
    if (c == ',') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

TEST(CsvReport, HoldsTheNumbersOfTheJsonObject) {
  const auto json = report_json(one_cut({ran("cuda", full_timing())}));
  const std::string csv = report_csv(json);
  const std::size_t end = csv.find("\r\n");
  const auto names = cells(csv.substr(0, end));
  const auto values = cells(csv.substr(end + 2, csv.size() - end - 4));
  ASSERT_EQ(names.size(), values.size());
  const auto& lane = json["cuts"][0]["lanes"][0];
  const auto value = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    EXPECT_NE(at, names.end()) << name;
    return at == names.end() ? std::string() : values[static_cast<std::size_t>(at - names.begin())];
  };
  EXPECT_EQ(value("cut"), "prefill:4");
  EXPECT_EQ(value("identity.chips"), "1");
  EXPECT_EQ(value("agrees"), "true");
  EXPECT_EQ(std::stod(value("seconds")), lane["seconds"].get<double>());
  EXPECT_EQ(std::stod(value("tokens_per_second")), lane["tokens_per_second"].get<double>());
  EXPECT_EQ(value("bytes.hbm"), "123");
  EXPECT_EQ(value("cycles_by_category.idle"), "200");
  EXPECT_EQ(value("bound.fraction"), "0.5");
  EXPECT_EQ(value("time_class"), "modelled");
}

TEST(CsvReport, QuotesWhatNeedsIt) {
  LaneOutcome lane = ran("cuda", full_timing());
  lane.ending = Ending::kRefused;
  lane.reason = "needs \"4\", has 2\nbytes";
  EXPECT_THAT(report_csv(report_json(one_cut({lane}))),
              HasSubstr("\"needs \"\"4\"\", has 2\nbytes\""));
}

TEST(ConsoleReport, AddsUpTheMemoriesOfOneKind) {
  Timing timing = full_timing();
  timing.bytes = {{"ddr0", 100}, {"ddr1", 20}, {"ddr2", 3}, {"ddr3", 4}, {"host", 9}};
  EXPECT_THAT(console({ran("d5005", timing)}), HasSubstr("ddr 127 B, host 9 B"));
}

TEST(ConsoleReport, PrintsTheClassBesideEveryTime) {
  const std::string text =
      console({ran("reference", Timing(TimeClass::kMeasured, 0.5)), ran("cuda", full_timing())});
  EXPECT_THAT(text, HasSubstr("500 ms measured"));
  EXPECT_THAT(text, HasSubstr("250 ms modelled  "));
  EXPECT_THAT(text,
              HasSubstr("cuda: modelled (uncalibrated); hbm 123 B, sram 7 B; compute 30.0 %"));
  EXPECT_THAT(text, HasSubstr("hbm 50.0 %"));
  EXPECT_THAT(text, HasSubstr("  agrees\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ConsoleReport, DrawsWhereTheCyclesGo) {
  const std::string text = console({ran("cuda", full_timing())});
  EXPECT_THAT(text, HasSubstr("  WWKKKKCCCCCCMMMS....  "));  // 10, 20, 30, 15, 5, 20 %
  EXPECT_THAT(text, HasSubstr("cycles: W weight stream, K kv stream, C compute, M movement, "
                              "S synchronisation, . idle\n"));
  EXPECT_THAT(text, HasSubstr("; compute 30.0 %, kv stream 20.0 %, idle 20.0 %, movement "
                              "15.0 %, weight stream 10.0 %, synchronisation 5.0 %\n"));
}

TEST(ConsoleReport, DrawsBarsOfOneLengthWhateverTheShares) {
  Timing timing = full_timing();
  timing.cycles_by_category = {1, 1, 1, 0, 0, 0};
  EXPECT_THAT(console({ran("cuda", timing)}), HasSubstr("  WWWWWWWKKKKKKKCCCCCC  "));
  timing.cycles_by_category = {0, 0, 0, 0, 0, 0};
  EXPECT_THAT(console({ran("cuda", timing)}), Not(HasSubstr("cycles: W")));
}

TEST(ConsoleReport, HasOneInkACategory) {
  const std::string text = console({ran("cuda", full_timing())}, true);
  EXPECT_THAT(text, HasSubstr("\x1b[34;1mWW\x1b[0m\x1b[36;1mKKKK\x1b[0m\x1b[32;1mCCCCCC\x1b[0m"));
}

/// The longest line, in characters.
std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    width = std::max(width, end - begin);
    begin = end + 1;
  }
  return width;
}

TEST(ConsoleReport, FitsTheTerminal) {
  LaneOutcome spatial = ran("spatial", full_timing());
  spatial.result->timing.bound = Bound{"mac_array", 0.67};
  spatial.repeated_seconds = {0.123};
  LaneOutcome reference = ran("reference", Timing(TimeClass::kMeasured, 0.0478));
  for (const std::size_t columns : {80U, 94U, 200U}) {
    EXPECT_LE(width_of(console({reference, spatial}, false, columns)), columns);
  }
  EXPECT_THAT(console({spatial}, false, 80), HasSubstr("  WKKCCM..  "));
  EXPECT_THAT(console({spatial}, false, 94), HasSubstr("  WWKKKKCCCCCCMMMS....  "));
}

TEST(ConsoleReport, NamesRefusalsFailuresAndDivergences) {
  LaneOutcome refused = ran("cuda", full_timing());
  refused.ending = Ending::kRefused;
  refused.reason = "too small";
  LaneOutcome differs = ran("cuda", full_timing());
  differs.agrees = false;
  differs.divergence = Divergence{2, 33, "q.rope", "Let q be r.", 0, 5, "00000001", "00000002"};
  EXPECT_THAT(console({refused}), HasSubstr("REFUSED: too small"));
  const std::string text = console({differs});
  EXPECT_THAT(text, HasSubstr("  DIFFERS\n"));
  EXPECT_THAT(text, HasSubstr("cuda parts from reference at layer 2, line 33: Let q be r."));
  EXPECT_THAT(text, HasSubstr("q.rope [0, 5]: expected 00000001, got 00000002"));
}

TEST(ExitStatus, IsTheWorstOfTheLanes) {
  LaneOutcome differs = ran("cuda", full_timing());
  differs.agrees = false;
  LaneOutcome failed = ran("cuda", full_timing());
  failed.ending = Ending::kFailed;
  EXPECT_EQ(exit_status(one_cut({ran("cuda", full_timing())})), 0);
  EXPECT_EQ(exit_status(one_cut({ran("cuda", full_timing()), differs})), 1);
  EXPECT_EQ(exit_status(one_cut({failed, differs})), 2);
}

TEST(Repetitions, AreReportedByTheirMedian) {
  LaneOutcome lane;
  lane.repeated_seconds = {5, 1, 3};
  EXPECT_EQ(lane.seconds(), 3);
  lane.repeated_seconds = {4, 1, 3, 2};
  EXPECT_EQ(lane.seconds(), 2.5);
}

TEST(HumanFigures, AreShort) {
  EXPECT_EQ(human_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(human_seconds(2e-10), "0.2 ns");
  EXPECT_EQ(human_seconds(999.6e-6), "1 ms");
  EXPECT_EQ(human_seconds(999.4e-6), "999 us");
  EXPECT_EQ(human_seconds(999.7), "1000 s");
  EXPECT_EQ(human_seconds(1234.5), "1234 s");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1234567), "1.23 MB");
  EXPECT_EQ(human_bytes(999'999), "1.00 MB");
  EXPECT_EQ(human_count(12.34), "12.3");
  EXPECT_EQ(human_count(99.96), "100");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_count(123), "123");
}

}  // namespace
}  // namespace logos::bench
