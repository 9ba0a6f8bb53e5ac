#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/written.h"
#include "tests/bench/process.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Launch altered(const std::string& how, const std::string& position = "") {
  Launch launch;
  launch.altered = true;
  launch.environment["LOGOS_ALTER"] = how;
  if (!position.empty()) launch.environment["LOGOS_ALTER_POSITION"] = position;
  return launch;
}

json run_json(std::vector<std::string> arguments, const Launch& launch, int status) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run_bench(arguments, launch);
  EXPECT_EQ(ended.status, status) << ended.err;
  json object = json::parse(ended.out, nullptr, false);
  EXPECT_FALSE(object.is_discarded()) << ended.out;
  return object;
}

/// The last digit of hex text with its lowest bit flipped.
std::string flipped(std::string hex) {
  const int digit = std::stoi(hex.substr(hex.size() - 1), nullptr, 16) ^ 1;
  hex.back() = "0123456789ABCDEF"[digit];
  return hex;
}

std::string line_of(const std::string& cut, int line) {
  std::istringstream text(written(resolve_model("kjv").reading.spec, Cut::parse(cut)).text);
  std::string found;
  for (int i = 0; i < line; ++i) std::getline(text, found);
  return found.substr(found.find_first_not_of(' '));
}

TEST(AWrongValue, IsNamedWithLaneLayerLineElementAndBothBitPatterns) {
  const json object = run_json({"--cut", "prefill:4"}, altered("value 2 q.rope 3 37"), 1);
  const json& lane = object["cuts"][0]["lanes"][1];
  EXPECT_EQ(lane["lane"], "cuda");
  EXPECT_EQ(lane["agrees"], false);
  const json& divergence = lane["first_divergence"];
  ASSERT_EQ(divergence.size(), 6u);
  EXPECT_EQ(divergence["layer"], 2);
  EXPECT_EQ(divergence["element"], json::array({3, 37}));
  EXPECT_EQ(divergence["got"], flipped(divergence["expected"].get<std::string>()));
  EXPECT_THAT(divergence["text"].get<std::string>(), HasSubstr("rotated("));
  EXPECT_EQ(divergence["text"], line_of("prefill:4", divergence["line"].get<int>()));
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["agrees"], true);
}

TEST(AWrongValue, OutsideTheLayersHasNoLayer) {
  const json object = run_json({"--cut", "decode:4"}, altered("value 0 final_norm 0 5"), 1);
  const json& divergence = object["cuts"][0]["lanes"][1]["first_divergence"];
  EXPECT_TRUE(divergence["layer"].is_null());
  EXPECT_EQ(divergence["element"], json::array({0, 5}));
}

TEST(AWrongExponent, IsNamed) {
  const json object = run_json({"--cut", "decode:4"}, altered("exponent 1 k.q16 0 1"), 1);
  const json& divergence = object["cuts"][0]["lanes"][1]["first_divergence"];
  EXPECT_EQ(divergence["layer"], 1);
  EXPECT_THAT(divergence["expected"].get<std::string>(), testing::StartsWith("e="));
  EXPECT_EQ(divergence["element"], json::array({0, 32}));  // the second head begins there
}

TEST(AWrongOutput, WithoutAWrongOperationIsNamedAtTheLineThatShowsIt) {
  const json object = run_json({"--cut", "batch:2x3"}, altered("output"), 1);
  const json& divergence = object["cuts"][0]["lanes"][1]["first_divergence"];
  EXPECT_THAT(divergence["text"].get<std::string>(), testing::StartsWith("Show "));
  EXPECT_EQ(divergence["element"], json::array({1, 7}));
  EXPECT_EQ(divergence["got"], "447A0000");  // 1000
}

TEST(AWrongFault, IsADisagreementToo) {
  const json object = run_json({"--cut", "decode:3"}, altered("fault"), 1);
  const json& lane = object["cuts"][0]["lanes"][1];
  EXPECT_EQ(lane["fault"], 1);
  EXPECT_EQ(lane["first_divergence"]["expected"], "no fault");
  EXPECT_EQ(lane["first_divergence"]["got"], "fault at line 1");
}

TEST(AWrongPart, IsNamedInThePart) {
  const json object = run_json({"--cut", "layer:3@prefill:2"}, altered("value 3 o 1 9"), 1);
  const json& divergence = object["cuts"][0]["lanes"][1]["first_divergence"];
  EXPECT_EQ(divergence["layer"], 3);
  EXPECT_EQ(divergence["element"], json::array({1, 9}));
  EXPECT_EQ(divergence["text"], line_of("layer:3@prefill:2", divergence["line"].get<int>()));
}

TEST(AWrongGeneration, IsADisagreementAndItsStepIsNamed) {
  const json object = run_json({"--cut", "prefill:2", "--prompt", "In", "--generate", "6"},
                               altered("value 1 v 0 2", "4"), 1);
  const json& lanes = object["cuts"][0]["lanes"];
  EXPECT_EQ(lanes[0]["output_sha256"], lanes[1]["output_sha256"]);  // the cut itself agrees
  EXPECT_NE(lanes[0]["generated"]["tokens"], lanes[1]["generated"]["tokens"]);
  EXPECT_EQ(lanes[0]["generated"]["tokens"][1], lanes[1]["generated"]["tokens"][1]);
  EXPECT_EQ(lanes[1]["generated"]["tokens"][2], 7);  // what the altered logits say
  EXPECT_EQ(lanes[1]["first_divergence"]["layer"], 1);
  EXPECT_EQ(lanes[1]["first_divergence"]["element"], json::array({0, 2}));
}

class WrongScore : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(WrongScore, IsADisagreementAndItsStepIsNamed) {
  std::vector<std::string> arguments = {"--score", "--tokens", "1,2,3,4,5,6,7"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  const json object = run_json(arguments, altered("value 1 down 0 3", "6"), 1);
  const json& lanes = object["lanes"];
  EXPECT_EQ(lanes[1]["agrees"], false);
  EXPECT_NE(lanes[0]["score"]["logits_sha256"], lanes[1]["score"]["logits_sha256"]);
  EXPECT_EQ(lanes[1]["first_divergence"]["layer"], 1);
  EXPECT_EQ(lanes[1]["first_divergence"]["element"], json::array({0, 3}));
}

INSTANTIATE_TEST_SUITE_P(Modes, WrongScore,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--chunk", "3"},
                                         std::vector<std::string>{"--batch", "1"}));

TEST(AnUnsteadyLane, FailsAtTheSecondRepetition) {
  const json object =
      run_json({"--cut", "decode:3", "--benchmark_repetitions=2"}, altered("wander"), 2);
  EXPECT_THAT(object["cuts"][0]["lanes"][1]["failed"].get<std::string>(),
              HasSubstr("for the same inputs"));
}

TEST(TheConsole, NamesADivergence) {
  const Ended ended = run_bench({"--cut", "prefill:4"}, altered("value 2 q.rope 3 37"));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("DIFFERS"));
  EXPECT_THAT(ended.out, HasSubstr("cuda parts from reference at layer 2, line "));
  EXPECT_THAT(ended.out, HasSubstr("q.rope [3, 37]: expected "));
}

TEST(WithoutTheReference, TheFirstLaneIsWhatTheOthersAreComparedWith) {
  const json object = run_json({"--cut", "decode:3", "--lanes", "cuda"}, altered("output"), 0);
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["agrees"], true);
}

TEST(TheOrderOfLanes, DoesNotChangeWhoIsRight) {
  const json object =
      run_json({"--cut", "decode:3", "--lanes", "cuda,reference"}, altered("output"), 1);
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["lane"], "cuda");
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["agrees"], false);
  EXPECT_EQ(object["cuts"][0]["lanes"][1]["agrees"], true);
}

}  // namespace
}  // namespace logos::bench
