// What bench says on standard error about inputs that change nothing or that a text does not carry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program/written.h"
#include "sim/whole_file.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Ended run(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--lanes", "reference", "--format", "json"});
  Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.status, 0) << ended.err;
  return ended;
}

std::string digest(const Ended& ended) {
  const json object = json::parse(ended.out, nullptr, false);
  return object.is_discarded() ? "" : object["cuts"][0]["lanes"][0]["output_sha256"];
}

TEST(IdsBehindAStepsPosition, ChangeNothingAndAreNamed) {
  const Ended step = run({"--cut", "decode:6", "--tokens", "1,2,3,4,5,6", "--position", "3"});
  EXPECT_EQ(
      step.err,
      "bench: --tokens for decode:6: a step at position 3 sees the ids before it and its own, "
      "the last: what lies between, ids 3 to 5, changes nothing\n");
  EXPECT_EQ(digest(step), digest(run({"--cut", "decode:3", "--tokens", "1,2,6"})));
  EXPECT_EQ(digest(step),
            digest(run({"--cut", "decode:6", "--tokens", "1,2,9,9,9,6", "--position", "3"})));
  EXPECT_NE(digest(step),
            digest(run({"--cut", "decode:6", "--tokens", "1,9,3,4,5,6", "--position", "3"})));
  EXPECT_THAT(run({"--cut", "decode:4", "--prompt", "abcd", "--position", "3"}).err,
              HasSubstr("--prompt for decode:4: a step at position 3 sees the ids before it and "
                        "its own, the last: id 3 changes nothing"));
  const TemporaryFolder folder;
  std::ofstream(folder / "ids") << "1 2 3\n4 5 6\n";
  EXPECT_THAT(
      run({"--cut", "batch:2x3", "--tokens", at_file(folder / "ids"), "--position", "2"}).err,
      HasSubstr("--tokens for batch:2x3: a step at position 2"));
}

TEST(IdsThatAreAllTaken, GetNoRemark) {
  EXPECT_EQ(run({"--cut", "decode:3", "--tokens", "1,2,3"}).err, "");
  EXPECT_EQ(run({"--cut", "decode:3", "--tokens", "1,2,3", "--position", "3"}).err, "");
  EXPECT_EQ(run({"--cut", "decode:3", "--position", "2"}).err, "");
  EXPECT_EQ(run({"--cut", "prefill:3", "--tokens", "1,2,3", "--position", "2"}).err, "");
}

TEST(ATextWithACache, SaysWhatItIsFilledWith) {
  const ModelSpec spec = resolve_model("kjv").reading.spec;
  const TemporaryFolder folder;
  const std::string file = (folder / "t.lg").string();
  const auto run_text = [&](const std::string& text) {
    write_whole_file(file, text);
    return run({"--text", file});
  };
  const Ended step = run_text(decode_at(spec, 3, 4, 3).text);
  EXPECT_EQ(step.err, "bench: " + file +
                          ": a text carries no cache: positions 1 to 2 are filled with the default "
                          "ids (--cut with --tokens takes others)\n");
  EXPECT_NE(digest(step), digest(run({"--cut", "decode:3", "--tokens", "1,2,3"})));
  EXPECT_THAT(run_text(prefill_at(spec, std::vector<std::int64_t>{66, 67}, 4).text).err,
              HasSubstr("positions 1 to 3 are filled with the default ids"));
  EXPECT_EQ(run_text(prefill_at(spec, std::vector<std::int64_t>{66, 67}, 1).text).err, "");
  EXPECT_EQ(run_text(written(spec, Cut::parse("decode:3")).text).err, "");
}

TEST(ARemarkOnAModel, NamesItsFile) {
  const TemporaryFolder folder;
  const std::filesystem::path models = LOGOS_SOURCE_DIR "/models/kjv";
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    std::filesystem::copy(entry.path(), folder / entry.path().filename().string());
  }
  const std::filesystem::path config = folder / "config.json";
  json object = json::parse(read_whole_file(config));
  object["mascot"] = "lion";
  write_whole_file(config, object.dump());
  EXPECT_THAT(run({"--cut", "decode:1", "--model", folder.path().string()}).err,
              HasSubstr("bench: " + config.string() +
                        ": key \"mascot\" is not one that this model "
                        "class reads: passed over\n"));
}

TEST(TheHelp, SaysHowIdsStandInAFileAndWhatATextLacks) {
  const std::string help = run_bench({"--help"}).out;
  EXPECT_THAT(help, HasSubstr("@FILE: separated by white space, one sequence a line"));
  EXPECT_THAT(help, HasSubstr("It carries no cache"));
  EXPECT_THAT(help, HasSubstr("a step sees the ids before it"));
}

}  // namespace
}  // namespace logos::bench
