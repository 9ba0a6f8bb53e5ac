// --trace of the program as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "sim/whole_file.h"
#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/bench/trace_checker.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(TraceFile, HoldsEveryLaneOfEveryCut) {
  TemporaryFolder folder;
  const std::string file = (folder / "t.json").string();
  const Ended ended = run_bench({"--cut", "decode:8,prefill:3", "--trace", file});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string text = read_whole_file(file);
  ASSERT_EQ(fault_of_trace(text), "");
  const json trace = json::parse(text);
  EXPECT_EQ(trace["otherData"]["runs"].size(), 2 * built_lanes().size());
  std::set<std::int64_t> with_lines;
  for (const json& event : events_of(trace, "X")) {
    if (event["cat"] == "line") with_lines.insert(event["pid"].get<std::int64_t>());
  }
  EXPECT_EQ(with_lines.size(), 2 * built_lanes().size());
  EXPECT_EQ(folder.entries(), 1);
}

TEST(TraceFile, ChangesNoNumberOfTheResult) {
  TemporaryFolder folder;
  std::vector<std::string> arguments = {"--cut", "decode:8", "--format", "json"};
  const json without = json::parse(run_bench(arguments).out);
  arguments.insert(arguments.end(), {"--trace", (folder / "t.json").string()});
  const json with = json::parse(run_bench(arguments).out);
  for (std::size_t lane = 0; lane < built_lanes().size(); ++lane) {
    const json& a = without["cuts"][0]["lanes"][lane];
    const json& b = with["cuts"][0]["lanes"][lane];
    for (const char* key : {"output_sha256", "cycles", "bytes", "macs", "cycles_by_category"}) {
      EXPECT_EQ(a[key], b[key]) << a["lane"] << " " << key;
    }
  }
}

TEST(TraceFile, IsOneWithoutALaneThatRefused) {
  TemporaryFolder folder;
  const std::string file = (folder / "t.json").string();
  const Ended ended = run_bench({"--cut", "decode:2", "--lanes", "reference,cuda", "--trace", file},
                                {.environment = {{"LOGOS_ALTER", "throw"}}, .altered = true});
  EXPECT_EQ(ended.status, 2);
  const std::string text = read_whole_file(file);
  EXPECT_EQ(fault_of_trace(text), "");
  EXPECT_EQ(json::parse(text)["otherData"]["runs"].size(), 1u);
}

TEST(TraceFile, WhosePlaceIsTakenIsRefusedBeforeTheRun) {
  TemporaryFolder folder;
  const std::string missing = (folder / "none" / "t.json").string();
  for (const std::string& file : {folder.path().string(), missing}) {
    const Ended ended = run_bench({"--cut", "decode:2", "--trace", file});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr(file));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(TraceFile, ThatFindsNoRoomIsAbsentAndLeavesTheOtherOutputs) {
  TemporaryFolder folder;
  const std::string file = (folder / "t.json").string();
  const std::vector<std::string> arguments = {"--cut",    "decode:2", "--lanes", "reference",
                                              "--format", "json",     "--trace", file};
  EXPECT_EQ(run_bench(arguments).status, 0);  // with the weights packed
  std::filesystem::remove(file);
  const Ended ended = run_bench(arguments, {.file_bytes = 100});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(file + ": cannot write: File too large"));
  EXPECT_FALSE(json::parse(ended.out, nullptr, false).is_discarded());
  EXPECT_EQ(folder.entries(), 0);
}

TEST(TraceFile, IsOfCutsOnly) {
  const Ended ended = run_bench({"--score", "--tokens", "1,2", "--trace", "t.json"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--score: cannot be given together with --trace"));
}

}  // namespace
}  // namespace logos::bench
