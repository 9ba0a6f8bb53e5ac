#include "bench/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/generate.h"
#include "program/error.h"

namespace logos::bench {
namespace {

TEST(NegativeLogLikelihood, IsThatOfTheSoftmax) {
  const std::vector<float> even(8, 3.5f);
  EXPECT_NEAR(negative_log_likelihood(even, 2), std::log(8.0), 1e-15);
  const std::vector<float> two = {1.0f, 3.0f};
  EXPECT_NEAR(negative_log_likelihood(two, 0), std::log1p(std::exp(2.0)), 1e-15);
  EXPECT_NEAR(negative_log_likelihood(two, 1), std::log1p(std::exp(-2.0)), 1e-15);
}

TEST(NegativeLogLikelihood, HoldsForLogitsWhoseExponentialOverflows) {
  const std::vector<float> large = {30000.0f, 29999.0f};
  EXPECT_NEAR(negative_log_likelihood(large, 0), std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(negative_log_likelihood(large, 1), 1 + std::log1p(std::exp(-1.0)), 1e-12);
}

TEST(Greedy, TakesTheFirstOfTheLargest) {
  const std::vector<float> values = {-1.0f, 2.0f, 0.5f, 2.0f};
  EXPECT_EQ(first_largest(values), 1);
}

TEST(ScoreWork, TheContextIsTheLongestSequenceOrLonger) {
  const std::vector<Sequence> sequences = {{1, 2, 3}, {1}};
  EXPECT_EQ(score_work(sequences, std::nullopt, {}).context, 3);
  EXPECT_EQ(score_work(sequences, 10, {}).context, 10);
  try {
    score_work(sequences, 2, {});
    FAIL() << "a context of 2 holds 3 tokens";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("got 2, want 3 or more"));
  }
}

std::vector<std::string> cut_texts(const ScoreWork& work) {
  ModelSpec spec;
  spec.layers = 2;
  std::vector<std::string> texts;
  for (const Cut& cut : score_cuts(work, spec)) texts.push_back(cut.text());
  return texts;
}

TEST(ScoreWork, NamesEveryCutOnce) {
  const std::vector<Sequence> sequences = {{1, 2, 3, 4, 5}, {1, 2, 3}};
  using testing::ElementsAre;
  EXPECT_THAT(cut_texts(score_work(sequences, std::nullopt, {})), ElementsAre("decode:5"));
  EXPECT_THAT(cut_texts(score_work(sequences, 9, {ScoreMode::Kind::kBatch, 2})),
              ElementsAre("batch:2x9"));
  EXPECT_THAT(cut_texts(score_work(sequences, std::nullopt, {ScoreMode::Kind::kChunk, 3})),
              ElementsAre("embedding@prefill:3", "layer:1@prefill:3", "layer:2@prefill:3",
                          "head@batch:3x5", "embedding@prefill:2", "layer:1@prefill:2",
                          "layer:2@prefill:2", "head@batch:2x5"));
}

}  // namespace
}  // namespace logos::bench
