#include "bench/history/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace logos::bench {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Json result() {
  return Json::parse(R"({
    "context": {"git": {"commit": "a"}, "weights_sha256": "w", "configurations": {"cuda": "c"}},
    "cuts": [{"cut": "decode:2", "identity": {"cut": "decode:2", "chips": 1, "sha256": "p"},
      "lanes": [
        {"lane": "reference", "agrees": true, "output_sha256": "o", "seconds": 1.0,
         "time_class": "measured", "cycles": null, "host_seconds": 3.0},
        {"lane": "cuda", "agrees": true, "output_sha256": "o", "seconds": 0.5,
         "time_class": "modelled", "cycles": 1000, "host_seconds": 2.0}]}]})");
}

Json& lane(Json& of, std::size_t index) { return of["cuts"][0]["lanes"][index]; }

const Json& of(const Json& comparison, std::size_t index) { return comparison["results"][index]; }

TEST(AComparison, OfEqualResultsShowsNothing) {
  const Json comparison = compare_results(result(), result(), 0.05);
  EXPECT_EQ(comparison["context"].size(), 0u);
  EXPECT_EQ(of(comparison, 0)["status"], "same");
  EXPECT_EQ(of(comparison, 1)["status"], "same");
  EXPECT_EQ(comparison["regressions"], 0);
}

TEST(AComparison, ShowsAnyChangeOfCyclesAndCallsASmallOneNoRegression) {
  Json b = result();
  lane(b, 1)["cycles"] = 1001;
  lane(b, 1)["seconds"] = 0.5005;
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(of(comparison, 1)["status"], "changed");
  const Json& changes = of(comparison, 1)["changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["key"], "cycles");
  EXPECT_NEAR(changes[0]["change"].get<double>(), 0.001, 1e-12);
  EXPECT_EQ(changes[1]["key"], "seconds");
  EXPECT_EQ(comparison["regressions"], 0);
}

TEST(AComparison, MarksATimeThatGrewByMoreThanTheTolerance) {
  Json b = result();
  lane(b, 1)["cycles"] = 1100;
  lane(b, 1)["seconds"] = 0.55;
  EXPECT_EQ(compare_results(result(), b, 0.11)["regressions"], 0);
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["regressions"], 1);
  EXPECT_EQ(of(comparison, 1)["regressions"][0], "10.00 % slower, more than 5.00 %");
  EXPECT_EQ(compare_results(b, result(), 0.05)["regressions"], 0);
  EXPECT_THAT(comparison_text(comparison), HasSubstr("REGRESSION: 10.00 % slower"));
}

TEST(AComparison, MarksCyclesThatGrewWhileAFasterClockHidThem) {
  Json b = result();
  lane(b, 1)["cycles"] = 1100;
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(of(comparison, 1)["regressions"][0], "10.00 % more cycles, more than 5.00 %");
}

TEST(AComparison, TakesMeasuredTimesWithinTheToleranceForEqual) {
  Json b = result();
  lane(b, 0)["seconds"] = 1.04;
  lane(b, 0)["host_seconds"] = 9.0;
  EXPECT_EQ(of(compare_results(result(), b, 0.05), 0)["status"], "same");
  EXPECT_EQ(of(compare_results(result(), b, 0.01), 0)["status"], "changed");
}

TEST(AComparison, MarksOtherOutputsOfTheSameProgram) {
  Json b = result();
  lane(b, 1)["output_sha256"] = "x";
  EXPECT_EQ(of(compare_results(result(), b, 0.05), 1)["regressions"][0],
            "other outputs of the same program, weights and inputs");
  b["cuts"][0]["identity"]["sha256"] = "q";
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["regressions"], 0);
  EXPECT_EQ(of(comparison, 1)["changes"][0]["key"], "program_sha256");
}

TEST(AComparison, ALaneThatBecomesRightIsNoRegression) {
  Json a = result();
  lane(a, 1)["output_sha256"] = "x";
  lane(a, 1)["agrees"] = false;
  EXPECT_EQ(compare_results(a, result(), 0.05)["regressions"], 0);
  EXPECT_EQ(compare_results(result(), a, 0.05)["regressions"], 1);
}

TEST(AComparison, OtherInputsMayGiveOtherOutputs) {
  Json a = result();
  Json b = result();
  a["context"]["inputs"]["decode:2"] = "i";
  b["context"]["inputs"]["decode:2"] = "j";
  lane(b, 1)["output_sha256"] = "x";
  const Json comparison = compare_results(a, b, 0.05);
  EXPECT_EQ(comparison["regressions"], 0);
  EXPECT_EQ(comparison["context"][0]["key"], "inputs.decode:2");
  EXPECT_EQ(of(comparison, 1)["changes"][0]["key"], "inputs_sha256");
}

TEST(AComparison, ShowsTheConditionsThatATimeHad) {
  Json b = result();
  b["context"]["conditions"]["stalls"] = "5";
  EXPECT_THAT(comparison_text(compare_results(result(), b, 0.05)),
              HasSubstr("null -> {\"stalls\":\"5\"}"));
}

TEST(AComparison, TellsAnotherBound) {
  Json a = result();
  Json b = result();
  lane(a, 1)["bound"] = {{"name", "launch"}, {"fraction", 0.98}};
  lane(b, 1)["bound"] = {{"name", "hbm"}, {"fraction", 0.21}};
  const Json changes = of(compare_results(a, b, 0.05), 1)["changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["key"], "bound.name");
  EXPECT_EQ(changes[1]["key"], "bound.fraction");
}

TEST(AComparison, TellsTimesOfOtherClassesAndOfLanesThatFailed) {
  Json b = result();
  lane(b, 1)["time_class"] = "measured";
  lane(b, 1)["seconds"] = 0.4;
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["regressions"], 0);
  EXPECT_EQ(of(comparison, 1)["changes"].back()["key"], "seconds");
  Json failed = result();
  lane(failed, 1) = {{"lane", lane(b, 1)["lane"]}, {"failed", "x"}};
  const Json of_failed = of(compare_results(result(), failed, 0.05), 1);
  EXPECT_EQ(of_failed["changes"].back()["key"], "seconds");
  EXPECT_EQ(of_failed["changes"].back()["b"], nullptr);
}

TEST(AComparison, TakesTheTimeOfTheReferenceForTheHosts) {
  Json b = result();
  lane(b, 0)["seconds"] = 9.0;
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["regressions"], 0);
  EXPECT_EQ(of(comparison, 0)["changes"][0]["key"], "seconds");
}

TEST(AComparison, GoesIntoObjectsAndLists) {
  Json a = result();
  Json b = result();
  lane(a, 1)["bytes"] = {{"ddr0", 7}, {"ddr1", 7}};
  lane(b, 1)["bytes"] = {{"ddr0", 7}, {"ddr1", 8}};
  lane(a, 1)["sequences"] = {{{"nll", 1.5}}, {{"nll", 2.5}}};
  lane(b, 1)["sequences"] = {{{"nll", 1.5}}, {{"nll", 3.5}}};
  const Json changes = of(compare_results(a, b, 0.05), 1)["changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["key"], "bytes.ddr1");
  EXPECT_EQ(changes[1]["key"], "sequences[1].nll");
}

TEST(AComparison, ShowsOfLongTextsWhereTheyPart) {
  Json a = result();
  Json b = result();
  a["context"]["note"] = std::string(100, 'x') + "one";
  b["context"]["note"] = std::string(100, 'x') + "two";
  EXPECT_THAT(comparison_text(compare_results(a, b, 0.05)),
              HasSubstr("…xxxxxxxxxxone -> …xxxxxxxxxxtwo"));
}

TEST(AComparison, MarksALaneThatNoLongerAgreesOrRuns) {
  Json b = result();
  lane(b, 0) = {{"lane", "reference"}, {"refused", "too large"}};
  lane(b, 1)["agrees"] = false;
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["regressions"], 2);
  EXPECT_EQ(of(comparison, 0)["regressions"][0], "it ran, now it is refused");
  EXPECT_EQ(of(comparison, 1)["regressions"][0], "it agreed, now it does not");
}

TEST(AComparison, ShowsWhatOnlyOneHasAndWhatTheContextsSay) {
  Json b = result();
  b["context"]["git"]["commit"] = "b";
  b["cuts"][0]["lanes"].erase(0);
  const Json comparison = compare_results(result(), b, 0.05);
  EXPECT_EQ(comparison["context"][0]["key"], "git.commit");
  EXPECT_EQ(of(comparison, 0)["status"], "only_a");
  EXPECT_EQ(of(compare_results(b, result(), 0.05), 1)["status"], "only_b");
  EXPECT_THAT(comparison_text(comparison), HasSubstr("decode:2, reference: only in A"));
}

TEST(AComparison, OfATimeOfZeroHasNoRatio) {
  Json a = result();
  lane(a, 1)["cycles"] = 0;
  lane(a, 1)["seconds"] = 0.0;
  const Json comparison = compare_results(a, result(), 0.05);
  EXPECT_TRUE(of(comparison, 1)["changes"][0]["change"].is_null());
  EXPECT_EQ(comparison.dump().find("inf"), std::string::npos);
}

}  // namespace
}  // namespace logos::bench
