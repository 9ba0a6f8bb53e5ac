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

TEST(AFilter, ChoosesCutsAndLanes) {
  const Ended ended = run_bench(
      {"--cut", "decode:2,prefill:3", "--format", "json", "--benchmark_filter=prefill:3/cuda"});
  EXPECT_EQ(ended.status, 0);
  const json cuts = json::parse(ended.out)["cuts"];
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0]["cut"], "prefill:3");
  ASSERT_EQ(cuts[0]["lanes"].size(), 1u);
  EXPECT_EQ(cuts[0]["lanes"][0]["lane"], "cuda");
}

TEST(AFilter, ThatMatchesNothingIsAnError) {
  for (const std::string filter : {"nothing", "("}) {
    const Ended ended =
        run_bench({"--cut", "decode:2", "--format", "json", "--benchmark_filter=" + filter});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("--benchmark_filter: matches no benchmark"));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(ListingTheTests, RunsNone) {
  const Ended ended = run_bench({"--cut", "decode:2", "--benchmark_list_tests"},
                                {.environment = {{"LOGOS_ALTER", "throw"}}, .altered = true});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, testing::StartsWith("decode:2/reference"));
  EXPECT_THAT(ended.out, HasSubstr("\ndecode:2/cuda"));
}

TEST(ItsOutputFile, HoldsCountersOfEveryBenchmark) {
  TemporaryFolder folder;
  const std::string file = (folder / "g.json").string();
  const Ended ended =
      run_bench({"--cut", "decode:2", "--benchmark_out=" + file, "--benchmark_repetitions=3"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const json object = json::parse(read_whole_file(file), nullptr, false);
  ASSERT_FALSE(object.is_discarded());
  std::size_t runs = 0;
  for (const json& run : object["benchmarks"]) {
    if (run["run_type"] != "iteration") continue;
    ++runs;
    EXPECT_EQ(run["iterations"], 1);
    EXPECT_TRUE(run.contains("tokens/s"));
    EXPECT_TRUE(run.contains("bytes/s"));
    const bool reference = run["name"].get<std::string>().find("reference") != std::string::npos;
    EXPECT_EQ(run.contains("cycles"), !reference);
  }
  EXPECT_EQ(runs, 3 * built_lanes().size());
  EXPECT_EQ(folder.entries(), 1);
}

TEST(ItsOutputFile, MayBeCsv) {
  TemporaryFolder folder;
  const std::string file = (folder / "g.csv").string();
  EXPECT_EQ(
      run_bench({"--cut", "decode:2", "--benchmark_out=" + file, "--benchmark_out_format=csv"})
          .status,
      0);
  const std::string text = read_whole_file(file);
  EXPECT_THAT(text, testing::StartsWith("name,iterations,"));
  EXPECT_THAT(text, HasSubstr("\"cycles\""));  // although the first lane has none
  EXPECT_THAT(text, HasSubstr("decode:2/reference"));
  EXPECT_THAT(text, HasSubstr("decode:2/cuda"));
}

TEST(ItsOutputFile, OnAFullDiskIsAnError) {
  const Ended ended = run_bench({"--cut", "decode:2", "--benchmark_out=/dev/full"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("/dev/full"));
  EXPECT_THAT(ended.out, HasSubstr("  agrees"));
}

TEST(ItsFormat, StandsInForOurs) {
  const Ended ended = run_bench({"--cut", "decode:2", "--benchmark_format=json"});
  EXPECT_EQ(ended.status, 0);
  const json object = json::parse(ended.out, nullptr, false);
  ASSERT_FALSE(object.is_discarded());
  EXPECT_EQ(object["benchmarks"].size(), built_lanes().size());
  EXPECT_EQ(object["context"]["executable"], "bench");
  EXPECT_EQ(object["benchmarks"][0]["label"], "measured");
  EXPECT_THAT(object["benchmarks"][1]["label"].get<std::string>(),
              testing::AnyOf("modelled: uncalibrated, +-30 %", HasSubstr("measured")));
}

TEST(ALaneThatFails, IsAnErrorOfItsBenchmark) {
  const Ended ended = run_bench({"--cut", "decode:2", "--benchmark_format=json"},
                                {.environment = {{"LOGOS_ALTER", "throw"}}, .altered = true});
  EXPECT_EQ(ended.status, 2);
  const json runs = json::parse(ended.out)["benchmarks"];
  EXPECT_EQ(runs[1]["error_message"], "altered lane: the machine caught fire");
}

TEST(AScore, IsABenchmarkToo) {
  const Ended ended = run_bench({"--score", "--tokens", "1,2,3", "--benchmark_filter=score/cuda",
                                 "--format", "json", "--benchmark_repetitions=2"});
  EXPECT_EQ(ended.status, 0);
  const json lanes = json::parse(ended.out)["lanes"];
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0]["lane"], "cuda");
}

}  // namespace
}  // namespace logos::bench
