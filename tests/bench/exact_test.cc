// The error against binary64 of a model of a shape: synthetic weights, caches and rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/exact_error.h"
#include "program/error.h"
#include "tests/small_shape.h"

namespace logos::bench {
namespace {

ModelSpec small_spec() {
  ModelSpec spec = small_shape(40, 4, 2, 10, 36, 33);
  spec.norm_epsilon = 1e-6;
  return spec;
}

class ExactErrors : public testing::Test {
 protected:
  ExactErrors() {
    setenv("LOGOS_STORE", LOGOS_BINARY_DIR "/test-store", 1);
    model_.name = "small";
    model_.spec = small_spec();
    model_.weights_kind = "synthetic:1";
    model_.weights = synthetic_store(model_.spec, 1);
  }

  std::vector<CutOutcome> run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--exact", "--lanes", "reference"});
    const Options options = *parse_options(arguments).options;
    const auto plans = plan_cuts(options, model_, std::nullopt, "");
    const LaneEntry reference = reference_entry();
    std::vector<LaneEntry> lanes;
    lanes.push_back(reference_entry());
    Session session(options, model_, lanes, reference);
    std::vector<CutOutcome> outcomes;
    run_cuts(session, plans, outcomes);
    return outcomes;
  }

  Model model_;
};

double largest(const LaneOutcome& lane) {
  double most = 0;
  for (const float value : lane.result->outputs) most = std::max(most, std::abs(double{value}));
  return most;
}

TEST_F(ExactErrors, OfLogitsAreGivenForEveryCutOfAShape) {
  for (const CutOutcome& cut :
       run({"--cut", "decode:9,batch:3x9,prefill:5,head@decode:9,head@prefill:5,head@batch:2x9"})) {
    const LaneOutcome& lane = cut.lanes.front();
    ASSERT_TRUE(lane.error.has_value()) << cut.plan.cut.text();
    EXPECT_GT(lane.error->max_logit_error, 0) << cut.plan.cut.text();
    EXPECT_LT(lane.error->max_logit_error, 3e-3 * largest(lane)) << cut.plan.cut.text();
    EXPECT_GT(lane.error->kl, 0) << cut.plan.cut.text();
    EXPECT_LT(lane.error->kl, 1e-5) << cut.plan.cut.text();
    EXPECT_EQ(lane.error->top1, 1) << cut.plan.cut.text();
  }
}

TEST_F(ExactErrors, OfRowsAreTheLargestDifferenceAlone) {
  for (const CutOutcome& cut :
       run({"--cut", "embedding@prefill:5,layer:1@decode:9,layer:2@prefill:5,layer:2@batch:3x9"})) {
    const LaneOutcome& lane = cut.lanes.front();
    ASSERT_TRUE(lane.error.has_value()) << cut.plan.cut.text();
    EXPECT_TRUE(std::isnan(lane.error->kl));
    EXPECT_TRUE(std::isnan(lane.error->top1));
    EXPECT_GT(lane.error->max_logit_error, 0) << cut.plan.cut.text();
    EXPECT_LT(lane.error->max_logit_error, 3e-3 * largest(lane)) << cut.plan.cut.text();
  }
}

TEST_F(ExactErrors, TakeAChunkBehindASyntheticCacheAndOtherRowsOfABatch) {
  const auto chunk = run({"--cut", "prefill:3,layer:1@prefill:3", "--position", "7"});
  for (const CutOutcome& cut : chunk) {
    EXPECT_GT(cut.lanes[0].error->max_logit_error, 0);
    EXPECT_LT(cut.lanes[0].error->max_logit_error, 3e-3 * largest(cut.lanes[0]));
  }
  const CutOutcome batch = run({"--cut", "batch:3x4", "--position", "4"}).front();
  EXPECT_LT(batch.lanes[0].error->max_logit_error, 3e-3 * largest(batch.lanes[0]));
}

TEST(ExactMemory, OfAScoreThatNoHostHoldsIsRefused) {
  ScoreWork work;
  work.sequences.assign(1, Sequence(1 << 20, 0));
  ModelSpec spec = small_spec();
  check_exact_memory(work, spec);
  spec.vocabulary = (std::int64_t{1} << 31) - 1;
  EXPECT_THROW(check_exact_memory(work, spec), Error);
}

}  // namespace
}  // namespace logos::bench
