#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"

namespace logos::bench {
namespace {

using nlohmann::json;

json lanes_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.status, 0) << ended.err;
  return json::parse(ended.out)["cuts"][0]["lanes"];
}

TEST(Generation, IsTheSameOnAllLanesAndAgain) {
  const std::vector<std::string> arguments = {"--prompt", "In the beginning", "--generate", "20"};
  const json lanes = lanes_of(arguments);
  ASSERT_EQ(lanes.size(), built_lanes().size());
  for (const json& lane : lanes) EXPECT_EQ(lane["generated"], lanes[0]["generated"]);
  EXPECT_EQ(lanes[0]["generated"]["tokens"].size(), 20u);
  EXPECT_EQ(lanes_of(arguments)[0]["generated"], lanes[0]["generated"]);
}

TEST(Generation, TextIsThatOfTheTokens) {
  const json generated = lanes_of(
      {"--prompt", "And God said", "--generate", "12", "--lanes", "reference"})[0]["generated"];
  std::string text;
  for (const int token : generated["tokens"]) text.push_back(static_cast<char>(token));
  EXPECT_EQ(generated["text"], text);
}

TEST(Generation, ContinuesWhetherTheCutIsAChunkOrAStep) {
  const json chunk = lanes_of({"--cut", "prefill:3", "--prompt", "And", "--generate", "8",
                               "--lanes", "reference"})[0]["generated"];
  const json step = lanes_of({"--cut", "decode:3", "--prompt", "And", "--generate", "8", "--lanes",
                              "cuda"})[0]["generated"];
  EXPECT_EQ(chunk, step);
}

TEST(Generation, OfALongerRunBeginsWithTheShorterOnes) {
  const json four = lanes_of({"--prompt", "And", "--generate", "4", "--lanes", "reference"})[0];
  const json nine = lanes_of(
      {"--prompt", "And", "--generate", "9", "--context", "40", "--lanes", "reference"})[0];
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(four["generated"]["tokens"][i], nine["generated"]["tokens"][i]);
  }
}

TEST(Generation, OverChipsIsTheSame) {
  EXPECT_EQ(lanes_of({"--prompt", "And", "--generate", "5"})[0]["generated"],
            lanes_of({"--prompt", "And", "--generate", "5", "--chips", "2"})[1]["generated"]);
}

TEST(Generation, IsShownOnTheConsole) {
  const Ended ended = run_bench({"--prompt", "And the LORD said unto", "--generate", "4"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, testing::HasSubstr("reference generated 4 tokens: \""));
}

}  // namespace
}  // namespace logos::bench
