#include <gtest/gtest.h>

#include "tests/bench/built_lanes.h"
#include "tests/bench/golden.h"

namespace logos::bench {
namespace {

class AllStories : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(AllStories, GiveTheGoldenDigests) {
  expect_golden_stories(GetParam(), 20, "reference,cuda");
}

INSTANTIATE_TEST_SUITE_P(Modes, AllStories,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--chunk", "7"},
                                         std::vector<std::string>{"--chunk", "64"},
                                         std::vector<std::string>{"--batch", "4"},
                                         std::vector<std::string>{"--chips", "2"},
                                         std::vector<std::string>{"--chips", "4"}));

class StoriesOnTheEngine : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(StoriesOnTheEngine, GiveTheGoldenDigests) {
  if (is_built("d5005")) expect_golden_stories(GetParam(), 3, "d5005");
}

INSTANTIATE_TEST_SUITE_P(
    StallsAndModes, StoriesOnTheEngine,
    testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--stalls", "1"},
                    std::vector<std::string>{"--stalls", "20261130"},
                    std::vector<std::string>{"--chunk", "7", "--stalls", "2"},
                    std::vector<std::string>{"--chunk", "64", "--stalls", "3"},
                    std::vector<std::string>{"--batch", "3", "--stalls", "4"}));

/// Shapes of real models with synthetic weights, on the reference.
TEST(APreset, RunsALayerAndADecodeStep) {
  const Ended ended =
      run_bench({"--model", "llama-3.2-1b", "--cut", "layer:1@decode:1024,decode:64", "--lanes",
                 "reference", "--format", "json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto cuts = nlohmann::json::parse(ended.out)["cuts"];
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0]["lanes"][0]["fault"], false);
  EXPECT_GT(cuts[1]["lanes"][0]["tokens_per_second"], 0);
}

}  // namespace
}  // namespace logos::bench
