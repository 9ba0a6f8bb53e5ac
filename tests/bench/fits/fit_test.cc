#include "bench/fits/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

/// A machine that holds `bytes` of rows times context times chips' share.
FitLane machine(std::int64_t bytes) {
  return {"machine", [bytes](const ModelSpec&, const Cut& cut, std::int64_t chips) {
            if (cut.rows > 100) throw Error("machine", "too many rows");
            Fit fit;
            fit.memories = {{"memory", "bytes", cut.rows * cut.context / chips, bytes}};
            fit.bound = "memory";
            fit.bound_seconds = 1;
            return fit;
          }};
}

ModelSpec model() {
  ModelSpec spec;
  spec.query_heads = 4;
  return spec;
}

TEST(AFit, FindsTheLargestContextAndBatchExactly) {
  const FitAnswer answer = answer_of(machine(1000), model(), Cut::parse("batch:3x100"), 1);
  EXPECT_EQ(answer.reason, "");
  EXPECT_EQ(answer.chips_needed, 1);
  EXPECT_EQ(answer.largest_context, 333);
  EXPECT_EQ(answer.largest_batch, 10);
}

TEST(AFit, SaysWhatIsNeededAndWhatThereIs) {
  const FitAnswer answer = answer_of(machine(1000), model(), Cut::parse("decode:3000"), 1);
  EXPECT_EQ(answer.reason, "memory: 3000 bytes needed, 1000 there are");
  EXPECT_EQ(answer.chips_needed, 3);
  EXPECT_EQ(answer.largest_context, 1000);
  EXPECT_EQ(answer.largest_batch, std::nullopt);
}

TEST(AFit, OnNoNumberOfChipsIsNull) {
  const FitAnswer answer = answer_of(machine(10), model(), Cut::parse("decode:3000"), 1);
  EXPECT_EQ(answer.chips_needed, std::nullopt);
}

TEST(AFit, EndsItsSearchWhereItIsSaidTo) {
  const std::int64_t plenty = std::int64_t{1} << 60;
  const FitAnswer answer = answer_of(machine(plenty), model(), Cut::parse("decode:1"), 1);
  EXPECT_EQ(answer.largest_context, kMostContext);
  EXPECT_EQ(answer.largest_batch, 100);
}

TEST(AFit, OfAChunkAsksForStepsOfOneRow) {
  const FitAnswer answer = answer_of(machine(1000), model(), Cut::parse("prefill:50"), 1);
  EXPECT_EQ(answer.largest_context, 1000);
  EXPECT_EQ(answer.largest_batch, 20);
}

TEST(AFit, ThatIsRefusedGivesTheReason) {
  const FitAnswer answer = answer_of(machine(1000), model(), Cut::parse("batch:101x1"), 1);
  EXPECT_FALSE(answer.fit.has_value());
  EXPECT_THAT(answer.reason, HasSubstr("too many rows"));
}

TEST(AFit, NeedsTheMachinesThatThereAre) {
  Fit fit;
  EXPECT_TRUE(fit.fits());
  fit.chips = 2;
  EXPECT_FALSE(fit.fits());
}

TEST(TimedPositions, AreThoseOfTheCut) {
  EXPECT_EQ(timed_positions(Cut::parse("batch:2x7")), (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(timed_positions(Cut::parse("layer:1@prefill:3")), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TRUE(timed_positions(Cut::parse("head@decode:7")).empty());
}

}  // namespace
}  // namespace logos::bench
