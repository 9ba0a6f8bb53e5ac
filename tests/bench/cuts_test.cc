#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/whole_file.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;

json lanes_of(std::vector<std::string> arguments, const Launch& launch = {}) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run_bench(arguments, launch);
  EXPECT_EQ(ended.status, 0) << ended.err;
  json object = json::parse(ended.out, nullptr, false);
  EXPECT_FALSE(object.is_discarded()) << ended.out;
  return object;
}

std::string digest(const std::vector<std::string>& arguments, const Launch& launch = {}) {
  const json lanes = lanes_of(arguments, launch)["cuts"][0]["lanes"];
  for (const json& lane : lanes) EXPECT_EQ(lane["output_sha256"], lanes[0]["output_sha256"]);
  return lanes[0]["output_sha256"];
}

TEST(Parts, OfACutComposeToTheWhole) {
  for (const std::string cut : {"decode:9", "prefill:9", "batch:2x9"}) {
    const json cuts = lanes_of({"--cut", fmt::format("{0},head@{0},layer:3@{0}", cut)})["cuts"];
    for (int lane = 0; lane < 2; ++lane) {
      EXPECT_EQ(cuts[0]["lanes"][lane]["output_sha256"], cuts[1]["lanes"][lane]["output_sha256"])
          << cut;
    }
  }
}

/// The first ids of the model's prompt, with commas.
std::string prompt_ids(std::size_t count) {
  const std::string prompt =
      read_whole_file(std::filesystem::path(LOGOS_SOURCE_DIR) / "models" / "kjv" / "prompt.txt");
  std::string ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<unsigned char>(prompt[i]));
  }
  return ids;
}

TEST(DecodeAndPrefill, OfTheSameTokensGiveTheSameRow) {
  const std::string by_chunk = digest({"--cut", "prefill:9"});
  EXPECT_EQ(digest({"--cut", "decode:9"}), by_chunk);
  EXPECT_EQ(digest({"--cut", "decode:9", "--tokens", prompt_ids(8) + ",200"}),
            digest({"--cut", "prefill:1", "--position", "9", "--tokens", "200"}))
      << "what stands before a chunk is the prompt";
}

TEST(ChipCounts, DoNotChangeABit) {
  const std::string whole = digest({"--cut", "prefill:5"});
  EXPECT_EQ(digest({"--cut", "prefill:5", "--chips", "2"}), whole);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--chips", "3"}), whole);
  const json object = lanes_of({"--cut", "prefill:5", "--chips", "4"});
  EXPECT_EQ(object["cuts"][0]["identity"]["chips"], 4);
  EXPECT_EQ(object["cuts"][0]["lanes"][0]["output_sha256"], whole);
}

TEST(WhatChangesNoBit, ChangesNone) {
  const std::string plain = digest({"--cut", "prefill:5"});
  EXPECT_EQ(digest({"--cut", "prefill:5", "--context", "100"}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--threads", "2"}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--stalls", "77"}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--fill", "0xFF"}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--fill", "0x7FC00000"}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:5", "--set", "gpu.launch_us=5"}), plain);
}

TEST(ASetting, ChangesTheModelledTimeAndTheConfigurationsDigest) {
  const json plain = lanes_of({"--cut", "decode:5", "--lanes", "cuda"});
  const json slow =
      lanes_of({"--cut", "decode:5", "--lanes", "cuda", "--set", "gpu.launch_us=500"});
  EXPECT_NE(plain["context"]["configurations"]["cuda"], slow["context"]["configurations"]["cuda"]);
  const json& lane = slow["cuts"][0]["lanes"][0];
  if (lane["time_class"] == "measured") return;
  EXPECT_GT(lane["seconds"].get<double>(),
            2 * plain["cuts"][0]["lanes"][0]["seconds"].get<double>());
}

TEST(TheDefaultTokens, AreThoseOfThePrompt) {
  const std::string plain = digest({"--cut", "prefill:4"});
  EXPECT_EQ(digest({"--cut", "prefill:4", "--tokens", prompt_ids(4)}), plain);
  EXPECT_EQ(digest({"--cut", "decode:4", "--tokens", prompt_ids(4)}), plain);
  EXPECT_EQ(digest({"--cut", "prefill:4", "--prompt", "What"}),
            digest({"--cut", "prefill:4", "--tokens", "87,104,97,116"}));
  EXPECT_NE(digest({"--cut", "prefill:4", "--prompt", "What"}), plain);
}

TEST(ABatch, GivesEachRowWhatItsSequenceGives) {
  TemporaryFolder folder;
  std::ofstream(folder / "both") << "10 73 110\n1 2 3\n";
  const auto first = lanes_of({"--cut", "decode:3", "--tokens", "10,73,110"});
  const std::string both = digest({"--cut", "batch:2x3", "--tokens", at_file(folder / "both")});
  std::ofstream(folder / "turned") << "1 2 3\n10 73 110\n";
  EXPECT_NE(digest({"--cut", "batch:2x3", "--tokens", at_file(folder / "turned")}), both);
  std::string row = prompt_ids(3);
  std::replace(row.begin(), row.end(), ',', ' ');
  std::ofstream(folder / "equal") << row << '\n' << row << '\n';
  EXPECT_EQ(digest({"--cut", "batch:2x3", "--tokens", at_file(folder / "equal")}),
            digest({"--cut", "batch:2x3"}));
  EXPECT_EQ(digest({"--cut", "batch:1x3", "--tokens", "10,73,110"}),
            first["cuts"][0]["lanes"][0]["output_sha256"]);
}

TEST(TheLastId, OfTheVocabularyWorks) { digest({"--cut", "decode:2", "--tokens", "0,255"}); }

TEST(AWarning, NamesPositionsBeyondTraining) {
  const Ended ended =
      run_bench({"--cut", "prefill:1", "--position", "513", "--lanes", "reference"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr("warning: position 513 lies beyond the 512 positions that kjv states"));
  EXPECT_THAT(run_bench({"--cut", "prefill:1", "--lanes", "reference"}).err,
              testing::Not(testing::HasSubstr("warning")));
}

TEST(SyntheticWeights, OfAnotherSeedAreOthers) {
  const json one = lanes_of({"--cut", "decode:3", "--weights", "synthetic:1"});
  const json two = lanes_of({"--cut", "decode:3", "--weights", "synthetic:2"});
  EXPECT_EQ(one["context"]["weights"], "synthetic:1");
  EXPECT_NE(one["context"]["weights_sha256"], two["context"]["weights_sha256"]);
  EXPECT_NE(one["cuts"][0]["lanes"][0]["output_sha256"],
            two["cuts"][0]["lanes"][0]["output_sha256"]);
}

TEST(AKeptCache, IsMadeAgainWhenDamaged) {
  TemporaryFolder store;
  const Launch launch{.environment = {{"LOGOS_STORE", store.path().string()}}};
  const std::vector<std::string> arguments = {"--cut", "decode:20", "--lanes", "reference"};
  const std::string fresh = digest(arguments, launch);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(store.path() / "caches")) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(digest(arguments, launch), fresh);  // read back
  {
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.put('\x55');
  }
  const Ended ended =
      run_bench({"--cut", "decode:20", "--lanes", "reference", "--format", "csv"}, launch);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, testing::HasSubstr("made again"));
  EXPECT_THAT(ended.out, testing::HasSubstr(fresh));
}

}  // namespace
}  // namespace logos::bench
