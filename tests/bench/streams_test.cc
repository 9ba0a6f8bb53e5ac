// The three standard descriptors closed, as `2>&-` does, and limits that the system sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/whole_file.h"
#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(AClosedStandardError, TakesNothingFromTheResult) {
  const std::vector<std::string> arguments = {"--cut", "decode:2", "--format", "json"};
  const Ended ended = run_bench(arguments, {.closed = {2}});
  EXPECT_EQ(ended.status, 0);
  const json object = json::parse(ended.out);
  ASSERT_EQ(object["cuts"][0]["lanes"].size(), built_lanes().size());
  for (const json& lane : object["cuts"][0]["lanes"]) EXPECT_EQ(lane["agrees"], true);
}

TEST(AClosedStandardError, PutsNoRemarkIntoAFile) {
  TemporaryFolder folder;
  const std::string file = (folder / "r.json").string();
  const Ended ended = run_bench({"--cut", "decode:2", "--format", "json", "--out", file,
                                 "--artifacts", (folder / "a").string()},
                                {.closed = {0, 2}});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(read_whole_file(file), ended.out);
}

TEST(AClosedStandardError, LeavesTheStatusOfARefusal) {
  EXPECT_EQ(run_bench({"--cut", "decode:0"}, {.closed = {2}}).status, 2);
  EXPECT_EQ(run_bench({"--cut", "decode:0"}, {.closed = {0, 1, 2}}).status, 2);
}

TEST(AFullStandardError, TakesNothingFromTheResult) {
  const Ended ended = run_bench({"--cut", "decode:2"}, {.standard_error = "/dev/full"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("  agrees"));
}

TEST(AClosedStandardOutput, IsRefusedBeforeTheRun) {
  TemporaryFolder folder;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--cut", "decode:2", "--out", (folder / "r").string()},
        std::vector<std::string>{"--score", "--tokens", "1,2"}, std::vector<std::string>{"--list"},
        std::vector<std::string>{"--help"}, std::vector<std::string>{"--version"}}) {
    const Ended ended = run_bench(arguments, {.closed = {1}});
    EXPECT_EQ(ended.status, 2) << arguments.front();
    EXPECT_EQ(ended.err, "bench: standard output: cannot write: Bad file descriptor\n");
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(AClosedStandardInput, IsNotMissed) {
  EXPECT_EQ(run_bench({"--cut", "decode:2"}, {.closed = {0}}).status, 0);
}

TEST(ALimitOfAFilesSize, IsAnErrorWithItsCause) {
  TemporaryFolder folder;
  const std::string file = (folder / "r.json").string();
  run_bench({"--cut", "decode:2"});  // packs the weights where no test has yet
  const Ended ended =
      run_bench({"--cut", "decode:2", "--lanes", "reference", "--out", file}, {.file_bytes = 16});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(file + ": cannot write: File too large"));
  EXPECT_EQ(folder.entries(), 0);
  EXPECT_THAT(ended.out, HasSubstr("decode:2"));
}

}  // namespace
}  // namespace logos::bench
