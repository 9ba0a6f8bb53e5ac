#include "tests/bench/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/whole_file.h"
#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;

TEST(TheMainJob, GivesTheLastRowOfTheFourthSequence) {
  const json golden = golden_json("kjv.logits.json");
  const Ended ended = run_bench({"--cut", "prefill:256", "--format", "json"});
  EXPECT_EQ(ended.status, 0);
  const json lanes = json::parse(ended.out)["cuts"][0]["lanes"];
  ASSERT_EQ(lanes.size(), built_lanes().size());
  for (const json& lane : lanes) {
    EXPECT_EQ(lane["output_sha256"], golden["sequences"][3]["last_row_sha256"]) << lane["lane"];
  }
}

TEST(ScoresOfKjv, AreTheGoldenOnes) {
  const json golden = golden_json("kjv.logits.json");
  TemporaryFolder folder;
  std::vector<json> sequences;
  for (const json& sequence : golden["sequences"]) sequences.push_back(sequence["tokens"]);
  write_sequences(folder / "t", sequences);
  const Ended ended = run_bench(
      {"--score", "--chunk", "64", "--format", "json", "--tokens", at_file(folder / "t")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const json lanes = json::parse(ended.out)["lanes"];
  ASSERT_EQ(lanes.size(), built_lanes().size());
  for (const json& lane : lanes) {
    ASSERT_EQ(lane["sequences"].size(), sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const json& want = golden["sequences"][i];
      EXPECT_EQ(lane["sequences"][i]["logits_sha256"], want["logits_sha256"]);
      EXPECT_NEAR(lane["sequences"][i]["nll"].get<double>(), want["nll_nats"].get<double>(), 1e-6);
      EXPECT_NEAR(lane["sequences"][i]["perplexity"].get<double>(),
                  want["perplexity_per_byte"].get<double>(), 1e-6);
    }
    EXPECT_EQ(lane["score"]["positions"], 1024);
  }
}

/// Profile B on every lane that has it; d5005 refuses it by name.
TEST(AGgufFile, GivesItsGoldenLogitsIdentityAndLastRow) {
  const json golden = golden_json("gguf/llama-q8_0.json");
  const std::string file = std::string(LOGOS_SHARED_DIR) + "/golden/gguf/llama-q8_0.gguf";
  TemporaryFolder folder;
  write_sequences(folder / "t", {golden["tokens"]});
  for (const std::vector<std::string>& mode :
       std::vector<std::vector<std::string>>{{}, {"--chunk", "7"}, {"--chips", "2"}}) {
    std::vector<std::string> arguments = {"--score", "--model",        file,
                                          "--lanes", "reference,cuda", "--format",
                                          "json",    "--tokens",       at_file(folder / "t")};
    arguments.insert(arguments.end(), mode.begin(), mode.end());
    const Ended ended = run_bench(arguments);
    EXPECT_EQ(ended.status, 0) << ended.err;
    const json result = json::parse(ended.out);
    ASSERT_FALSE(result["lanes"].empty());
    for (const json& lane : result["lanes"]) {
      EXPECT_EQ(lane["score"]["logits_sha256"], golden["logits_sha256"]) << lane["lane"];
    }
  }
  const Ended ended = run_bench({"--cut", "prefill:48", "--model", file, "--format", "json",
                                 "--tokens", at_file(folder / "t")});
  const json cut = json::parse(ended.out)["cuts"][0];
  EXPECT_EQ(cut["identity"]["sha256"], golden["identity"]["prefill:48"]);
  ASSERT_EQ(cut["lanes"].size(), built_lanes().size());
  bool refused = false;
  for (const json& lane : cut["lanes"]) {
    if (lane["lane"] == "d5005") {
      refused = true;
      EXPECT_THAT(lane["refused"], testing::HasSubstr("weights of another profile; got B, want A"));
    } else {
      EXPECT_EQ(lane["output_sha256"], golden["last_row_sha256"]) << lane["lane"];
    }
  }
  EXPECT_EQ(ended.status, refused ? 2 : 0) << ended.err;
}

const std::vector<std::vector<std::string>> kModes = {{},
                                                      {"--chunk", "7"},
                                                      {"--chunk", "64"},
                                                      {"--batch", "4"},
                                                      {"--chips", "2", "--chunk", "64"},
                                                      {"--chips", "4", "--chunk", "100"}};

class ScoresOfStories : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ScoresOfStories, AreTheGoldenOnes) {
  expect_golden_stories(GetParam(), 3, "reference,cuda");
  // A simulated engine takes its time: more of it under the label slow.
  const std::size_t count = GetParam() == std::vector<std::string>{"--chunk", "64"} ? 3 : 1;
  if (is_built("d5005")) expect_golden_stories(GetParam(), count, "d5005");
}

INSTANTIATE_TEST_SUITE_P(Modes, ScoresOfStories, testing::ValuesIn(kModes));

TEST(SequencesOfUnequalLength, ScoreTogetherAsAlone) {
  const json tokens = golden_json("stories260K.tokens.json")["sequences"];
  TemporaryFolder folder;
  const std::vector<std::size_t> lengths = {5, 9, 2, 9, 1};
  std::vector<json> sequences;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    json sequence = json::array();
    for (std::size_t k = 0; k < lengths[i]; ++k) sequence.push_back(tokens[i][k]);
    sequences.push_back(sequence);
  }
  write_sequences(folder / "t", sequences);
  const std::vector<std::string> base = {
      "--model", stories(), "--score", "--format", "json", "--tokens", at_file(folder / "t")};
  const auto lanes = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    const Ended ended = run_bench(more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(ended.out)["lanes"];
  };
  const json alone = lanes({});
  for (const char* size : {"1", "2", "3", "9"}) EXPECT_EQ(lanes({"--batch", size}), alone) << size;
  EXPECT_EQ(lanes({"--chunk", "4"}), alone);
  EXPECT_EQ(lanes({"--context", "77"}), alone);
}

/// All lines of the golden file, as objects, by name, layer and position.
std::map<std::string, json> operations(const std::filesystem::path& file) {
  std::map<std::string, json> lines;
  std::istringstream text(read_whole_file(file));
  for (std::string line; std::getline(text, line);) {
    json object = json::parse(line);
    const std::string key = object["name"].dump() + object["layer"].dump() +
                            object["sequence"].dump() + object["position"].dump();
    EXPECT_FALSE(lines.contains(key)) << line;
    lines[key] = std::move(object);
  }
  return lines;
}

struct DumpCase {
  std::string name;
  std::vector<std::string> arguments;
};

class Dumps : public testing::TestWithParam<std::tuple<std::string, DumpCase>> {};

TEST_P(Dumps, HoldEveryLineOfTheGoldenFile) {
  const auto& [lane, how] = GetParam();
  const json tokens = golden_json("stories260K.tokens.json")["sequences"][0];
  TemporaryFolder folder;
  write_sequences(folder / "t", {json::array({tokens[0], tokens[1], tokens[2], tokens[3]})});
  std::vector<std::string> arguments = {"--model",  stories(),
                                        "--lanes",  lane,
                                        "--tokens", at_file(folder / "t"),
                                        "--dump",   (folder / "d").string()};
  arguments.insert(arguments.end(), how.arguments.begin(), how.arguments.end());
  const Ended ended = run_bench(arguments);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto want = operations(golden_file("stories260K.ops.jsonl"));
  const auto got = operations(folder / "d");
  const bool chunk = how.name == "cut";  // a chunk's head sees its last row only
  for (const auto& [key, line] : want) {
    const bool head = line["layer"].is_null() && line["name"] != "embedding";
    if (chunk && head && line["position"] != 3) continue;
    ASSERT_TRUE(got.contains(key)) << key;
    EXPECT_EQ(got.at(key), line);
  }
  EXPECT_EQ(got.size(), chunk ? want.size() - 9 : want.size());
  if (how.name != "score_steps") return;
  EXPECT_EQ(read_whole_file(folder / "d"), read_whole_file(golden_file("stories260K.ops.jsonl")));
}

INSTANTIATE_TEST_SUITE_P(
    Lanes, Dumps,
    testing::Combine(testing::ValuesIn(built_lanes()),
                     testing::Values(DumpCase{"cut", {"--cut", "prefill:4"}},
                                     DumpCase{"score_steps", {"--score"}},
                                     DumpCase{"score_chunks", {"--score", "--chunk", "3"}},
                                     DumpCase{"score_batch", {"--score", "--batch", "2"}},
                                     DumpCase{"score_chips", {"--score", "--chips", "2"}})),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param).name; });

TEST(AModelWithTexts, PrintsThem) {
  const Ended ended =
      run_bench({"--model", stories(), "--tokens", "1", "--generate", "12", "--format", "json"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const json lanes = json::parse(ended.out)["cuts"][0]["lanes"];
  EXPECT_EQ(lanes[0]["generated"], lanes[1]["generated"]);
  EXPECT_THAT(lanes[0]["generated"]["text"].get<std::string>(),
              testing::StartsWith(" Once upon a time"));
}

TEST(AModelWithTexts, HasNoByteVocabulary) {
  const Ended ended = run_bench({"--model", stories(), "--cut", "prefill:2", "--prompt", "ab"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, testing::HasSubstr(stories() + " has no byte vocabulary"));
}

}  // namespace
}  // namespace logos::bench
