#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/whole_file.h"
#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kCut = {"--cut", "decode:2", "--lanes", "reference"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kCut.begin(), kCut.end());
  return more;
}

TEST(OutputFile, HoldsWhatStandardOutputHolds) {
  TemporaryFolder folder;
  const std::string file = (folder / "r.json").string();
  const Ended ended = run_bench(with({"--format", "json", "--out", file}));
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(read_whole_file(file), ended.out);
  EXPECT_EQ(folder.entries(), 1);
}

TEST(OutputFiles, ThatCannotBeWrittenAreRefusedBeforeTheRun) {
  TemporaryFolder folder;
  const std::string missing = (folder / "none" / "f").string();
  for (const char* option : {"--out", "--dump", "--benchmark_out"}) {
    for (const std::string& file : {folder.path().string(), missing}) {
      const bool google = std::string(option) == "--benchmark_out";
      const Ended ended =
          run_bench(google ? with({std::string(option) + "=" + file}) : with({option, file}));
      EXPECT_EQ(ended.status, 2) << option;
      EXPECT_THAT(ended.err, HasSubstr(file));
      EXPECT_EQ(ended.out, "");
    }
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(AnArtifact, WhosePlaceIsTakenIsRefusedBeforeTheRun) {
  TemporaryFolder folder;
  const std::string place = (folder / "reference.decode_2.1.artifact").string();
  std::filesystem::create_directory(place);
  // A store of its own: that nothing was packed shows that the check came first.
  const Launch launch = {.environment = {{"LOGOS_STORE", (folder / "store").string()}}};
  const Ended ended = run_bench(with({"--artifacts", folder.path().string()}), launch);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--artifacts: " + place + ": is not a regular file"));
  EXPECT_FALSE(std::filesystem::exists(folder / "store"));
  for (const std::string& file : {(folder / "f").string(), (folder / "f" / "sub").string()}) {
    std::ofstream(folder / "f") << "x";
    const Ended none = run_bench(with({"--artifacts", file}), launch);
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr(file + ": cannot be made a folder"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "store"));
}

TEST(TheStore, WhosePlaceIsTakenIsRefusedWithPathAndCause) {
  TemporaryFolder folder;
  std::ofstream(folder / "f") << "x";
  const Ended ended = run_bench(kCut, {.environment = {{"LOGOS_STORE", (folder / "f").string()}}});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr((folder / "f").string() + ": the folder cannot be made"));
}

TEST(OutputFiles, MustNotBeOneThatIsRead) {
  TemporaryFolder folder;
  const std::string file = (folder / "tokens").string();
  std::ofstream(file) << "1 2\n";
  for (const char* option : {"--out", "--dump"}) {
    const Ended ended = run_bench(with({"--tokens", at_file(file), option, file}));
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr(std::string(option) + ": the same file as --tokens"));
  }
  EXPECT_EQ(read_whole_file(file), "1 2\n");
}

TEST(OutputFiles, MustNotBeTheSame) {
  TemporaryFolder folder;
  const std::string file = (folder / "f").string();
  std::filesystem::create_symlink("f", folder / "link");  // to what is not there yet
  const std::string relative = std::filesystem::relative(file).string();
  for (const std::string& other : {file, (folder / "." / "f").string(), (folder / "link").string(),
                                   relative, "./" + relative}) {
    const Ended ended = run_bench(with({"--out", file, "--dump", other}));
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("--dump: the same file as --out")) << other;
  }
}

TEST(OutputFiles, MustNotBeOfTheModel) {
  TemporaryFolder folder;
  const std::filesystem::path model = folder / "kjv";
  std::filesystem::copy(std::filesystem::path(LOGOS_SOURCE_DIR) / "models" / "kjv", model);
  const std::string config = (model / "config.json").string();
  const std::string before = read_whole_file(config);
  for (const char* name : {"config.json", "model.safetensors", "prompt.txt"}) {
    const Ended ended =
        run_bench(with({"--model", model.string(), "--out", (model / name).string()}));
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("--out: the same file as --model")) << name;
  }
  EXPECT_EQ(read_whole_file(config), before);
  const Ended beside =
      run_bench(with({"--model", model.string(), "--out", (model / "r").string()}));
  EXPECT_EQ(beside.status, 0) << beside.err;
}

TEST(OutputFiles, MustNotBeAnArtifactOrAConfiguration) {
  TemporaryFolder folder;
  const std::string artifacts = (folder / "a").string();
  const Ended artifact =
      run_bench(with({"--artifacts", artifacts, "--out", artifacts + "/cuda.decode_4.1.artifact"}));
  EXPECT_EQ(artifact.status, 2);
  EXPECT_THAT(artifact.err, HasSubstr("--out: a file of its own in the folder of --artifacts"));
  const std::string gpu = (folder / "g.json").string();
  std::filesystem::copy(std::filesystem::path(LOGOS_SOURCE_DIR) / "configs" / "gpus" / "h200.json",
                        gpu);
  const Ended config = run_bench(with({"--gpu", gpu, "--lanes", "cuda", "--out", gpu}));
  EXPECT_EQ(config.status, 2);
  EXPECT_THAT(config.err, HasSubstr("--out: the same file as --gpu"));
}

TEST(AFullDisk, CostsItsOwnOutputOnly) {
  TemporaryFolder folder;
  const std::string dump = (folder / "d.jsonl").string();
  const Ended ended = run_bench(with({"--out", "/dev/full", "--dump", dump, "--format", "json"}));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("/dev/full: cannot write: No space left on device"));
  EXPECT_FALSE(nlohmann::json::parse(ended.out, nullptr, false).is_discarded());
  EXPECT_THAT(read_whole_file(dump), HasSubstr("\"logits\""));
}

TEST(AFullDisk, UnderStandardOutputLeavesTheOtherOutputs) {
  TemporaryFolder folder;
  const std::string file = (folder / "r.csv").string();
  const Ended ended =
      run_bench(with({"--out", file, "--format", "csv"}), {.standard_output = "/dev/full"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("standard output: cannot write: No space left on device"));
  EXPECT_THAT(read_whole_file(file), HasSubstr("decode:2"));
}

TEST(AClosedPipe, IsAnErrorWithItsCause) {
  const Ended ended = run_bench(kCut, {.standard_output = "closed"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("standard output: cannot write: Broken pipe"));
}

TEST(ADump, TakesOneLane) {
  TemporaryFolder folder;
  const Ended ended = run_bench({"--cut", "decode:2", "--dump", (folder / "d").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err,
              HasSubstr(fmt::format("--dump: takes one lane; got {} lanes", built_lanes().size())));
  EXPECT_EQ(folder.entries(), 0);
}

TEST(ADump, OfAFailedRunIsNotWritten) {
  TemporaryFolder folder;
  const Ended ended =
      run_bench({"--cut", "decode:2", "--lanes", "cuda", "--dump", (folder / "d").string()},
                {.environment = {{"LOGOS_ALTER", "throw"}}, .altered = true});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(ADump, OfAPartNamesItsPositions) {
  TemporaryFolder folder;
  const std::string whole = (folder / "whole").string();
  const std::string head = (folder / "head").string();
  for (const std::string& lane : built_lanes()) {
    EXPECT_EQ(run_bench({"--cut", "prefill:3", "--lanes", lane, "--dump", whole}).status, 0);
    EXPECT_EQ(run_bench({"--cut", "head@prefill:3", "--lanes", lane, "--dump", head}).status, 0);
    const std::string lines = read_whole_file(head);
    EXPECT_THAT(lines, HasSubstr("\"position\":2"));
    EXPECT_THAT(read_whole_file(whole), testing::EndsWith(lines));
  }
}

TEST(ADump, OfSeveralRepetitionsHoldsOneRun) {
  TemporaryFolder folder;
  const std::string once = (folder / "once").string();
  const std::string thrice = (folder / "thrice").string();
  EXPECT_EQ(run_bench(with({"--dump", once})).status, 0);
  EXPECT_EQ(run_bench(with({"--dump", thrice, "--benchmark_repetitions=3"})).status, 0);
  EXPECT_EQ(read_whole_file(once), read_whole_file(thrice));
}

}  // namespace
}  // namespace logos::bench
