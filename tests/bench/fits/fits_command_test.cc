#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/whole_file.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

json fits(Arguments arguments, int status = 0) {
  arguments.insert(arguments.begin(), "fits");
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.status, status) << ended.err << ended.out;
  return json::parse(ended.out);
}

const json& lane(const json& of, const std::string& name) {
  for (const json& one : of["lanes"]) {
    if (one["lane"] == name) return one;
  }
  throw std::runtime_error("no lane " + name);
}

const json& memory(const json& of, const std::string& name) {
  for (const json& one : of["memories"]) {
    if (one["name"] == name) return one;
  }
  throw std::runtime_error("no memory " + name);
}

TEST(Fits, AnswersForEveryMachineWithoutWeights) {
  TemporaryFolder folder;
  // A store that cannot be: nothing is packed.
  const Ended ended = run_bench({"fits", "--model", "llama-3.2-1b", "--format", "json"},
                                {.environment = {{"LOGOS_STORE", (folder / "s").string()}}});
  EXPECT_FALSE(std::filesystem::exists(folder / "s"));
  const json result = json::parse(ended.out);
  EXPECT_EQ(result["cut"], "decode:1024");
  EXPECT_EQ(result["lanes"][0]["lane"], "cuda");
  EXPECT_EQ(result["lanes"][1]["lane"], "d5005");
  const json& cuda = lane(result, "cuda");
  EXPECT_EQ(cuda["fits"], true);
  // 1.236 x 10^9 weights of a byte and what belongs to them; no more than a fifth on top.
  const double weights = memory(cuda, "of it weights")["needed"].get<double>();
  EXPECT_GT(weights, 1.23e9);
  EXPECT_LT(weights, 1.5e9);
  const json& ddr = memory(lane(result, "d5005"), "DDR of a board");
  EXPECT_GT(ddr["needed"].get<double>(), 1.23e9);
  EXPECT_LT(ddr["needed"].get<double>(), ddr["there_is"].get<double>());
  EXPECT_EQ(memory(lane(result, "d5005"), "M20K of the card (estimate)")["needed"], 1338);
}

TEST(Fits, BoundsARunFromBelow) {
  const json result = fits({"--cut", "decode:64"});
  const json run =
      json::parse(run_bench({"--cut", "decode:64", "--lanes", "cuda", "--format", "json"}).out);
  const json& ran = run["cuts"][0]["lanes"][0];
  const json& bound = lane(result, "cuda")["bound"];
  EXPECT_LT(bound["seconds"].get<double>(), ran["seconds"].get<double>());
  EXPECT_GT(bound["tokens_per_second"].get<double>(), ran["tokens_per_second"].get<double>());
}

TEST(Fits, HasTheBoundOfARunOfCuda) {
  struct Case {
    std::string cut;
    Arguments more;
    std::string bound;
  };
  const std::string quick_launches = "gpu.launch_us=0.000001";
  for (const Case& c :
       {Case{"decode:64", {}, "launch"}, Case{"head@prefill:64", {"--set", quick_launches}, "hbm"},
        Case{"layer:1@prefill:64", {"--set", quick_launches}, "hbm"},
        Case{"batch:10x32", {"--set", quick_launches, "--chips", "2"}, "hbm"},
        Case{"prefill:64",
             {"--set", quick_launches, "--set", "gpu.hbm_gb_per_s=1000000"},
             "int8"}}) {
    SCOPED_TRACE(c.cut);
    Arguments arguments = {"--cut", c.cut, "--lanes", "cuda"};
    arguments.insert(arguments.end(), c.more.begin(), c.more.end());
    const json bound = lane(fits(arguments), "cuda")["bound"];
    arguments.insert(arguments.end(), {"--format", "json"});
    const json run = json::parse(run_bench(arguments).out)["cuts"][0]["lanes"][0];
    EXPECT_EQ(bound["name"], c.bound);
    EXPECT_EQ(run["bound"]["name"], bound["name"]);
    const auto seconds = bound["seconds"].get<double>();
    EXPECT_NEAR(run["bound"]["fraction"].get<double>() * run["seconds"].get<double>(), seconds,
                1e-9 * seconds);
    EXPECT_LE(run["bound"]["fraction"].get<double>(), 1);
  }
}

TEST(Fits, FindsTheLargestThatARunStillTakes) {
  const Arguments gpu = {"--lanes", "cuda", "--set", "gpu.memory_bytes=3000000"};
  Arguments arguments = {"--cut", "decode:8"};
  arguments.insert(arguments.end(), gpu.begin(), gpu.end());
  const json result = fits(arguments);
  const auto largest = lane(result, "cuda")["largest_context"].get<std::int64_t>();
  ASSERT_GT(largest, 8);
  ASSERT_LT(largest, 100000);
  const auto run = [&](std::int64_t context) {
    Arguments with = {"--cut", "decode:" + std::to_string(context)};
    with.insert(with.end(), gpu.begin(), gpu.end());
    return run_bench(with).status;
  };
  EXPECT_EQ(run(largest), 0);
  EXPECT_EQ(run(largest + 1), 2);
}

TEST(Fits, OfAChunkSaysHowFarADecodeStepCanGo) {
  const Arguments gpu = {"--lanes", "cuda", "--set", "gpu.memory_bytes=1200000"};
  const auto with = [&](const std::string& cut) {
    Arguments arguments = {"--cut", cut};
    arguments.insert(arguments.end(), gpu.begin(), gpu.end());
    return arguments;
  };
  const json chunk = fits(with("prefill:64"));
  const auto largest = lane(chunk, "cuda")["largest_context"].get<std::int64_t>();
  fits(with("decode:" + std::to_string(largest)), 0);
  fits(with("decode:" + std::to_string(largest + 1)), 2);
  Arguments console = with("prefill:64");
  console.insert(console.begin(), "fits");
  EXPECT_THAT(run_bench(console).out, HasSubstr("largest context of a decode step  "));
}

TEST(Fits, SaysWhyAMachineDoesNotHoldACut) {
  const json result = fits({"--set", "gpu.memory_bytes=1000", "--lanes", "cuda"}, 2);
  EXPECT_EQ(lane(result, "cuda")["fits"], false);
  EXPECT_THAT(lane(result, "cuda")["reason"].get<std::string>(), HasSubstr("GPU memory: "));
  EXPECT_TRUE(lane(result, "cuda")["largest_context"].is_null());
  const json board = fits({"--lanes", "d5005", "--cut", "decode:100000"}, 2);
  EXPECT_THAT(lane(board, "d5005")["reason"].get<std::string>(), HasSubstr("positions"));
}

TEST(Fits, CountsTheBoardsThatAModelNeeds) {
  const json result =
      fits({"--model", "mistral-7b-v0.1", "--lanes", "d5005", "--cut", "decode:1024"});
  const json& d5005 = lane(result, "d5005");
  EXPECT_EQ(d5005["chips_needed"], 1);
  EXPECT_EQ(d5005["machines"]["needed"], 1);
  EXPECT_GT(memory(d5005, "DDR of a board")["needed"].get<double>(), 7.2e9);
}

#if LOGOS_SPATIAL
TEST(Fits, CountsTheChipsOfTilesThatAModelNeeds) {
  const json result = fits({"--lanes", "spatial"});
  const json& spatial = lane(result, "spatial");
  EXPECT_GE(spatial["machines"]["needed"].get<int>(), 1);
  EXPECT_LE(memory(spatial, "SRAM of a tile")["needed"].get<double>(),
            memory(spatial, "SRAM of a tile")["there_is"].get<double>());
  const json large = fits({"--lanes", "spatial", "--model", "mistral-7b-v0.1"}, 2);
  EXPECT_THAT(lane(large, "spatial")["reason"].get<std::string>(), HasSubstr("needed"));
}
#endif

TEST(Fits, TakesAContextForAStepOfIt) {
  EXPECT_EQ(fits({"--context", "4096"})["cut"], "decode:4096");
}

TEST(Fits, PrintsForPeopleAndCsvAndIntoAFile) {
  TemporaryFolder folder;
  const std::string out = (folder / "o").string();
  const Ended console = run_bench({"fits", "--lanes", "cuda,d5005", "--out", out});
  EXPECT_EQ(console.status, 0) << console.err;
  EXPECT_THAT(console.out, HasSubstr("cuda: fits"));
  EXPECT_THAT(console.out, HasSubstr("largest context"));
  EXPECT_EQ(read_whole_file(out), console.out);
  const Ended csv = run_bench({"fits", "--lanes", "cuda,d5005", "--format", "csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 3);
  EXPECT_THAT(run_bench({"fits", "--help"}).out, HasSubstr("Usage: bench fits"));
}

TEST(Fits, RefusesWhatItCannotTake) {
  const auto refusal = [](const Arguments& arguments) {
    const Ended ended = run_bench(arguments);
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_THAT(refusal({"fits", "--lanes", "reference"}), HasSubstr("no machine that fits knows"));
  EXPECT_THAT(refusal({"fits", "--cut", "decode:1,decode:2"}), HasSubstr("takes one cut"));
  EXPECT_THAT(refusal({"fits", "--report", "r.html"}), HasSubstr("--report: not of fits"));
  EXPECT_THAT(refusal({"fits", "--generate", "5"}), HasSubstr("--generate: not of fits"));
  EXPECT_THAT(refusal({"fits", "--lanes", "spatial", "--set", "chip.chips=1025"}),
              HasSubstr("1 to 1024"));
  EXPECT_THAT(refusal({"fits", "--benchmark_filter=x"}),
              HasSubstr("--benchmark_filter: not of fits"));
  EXPECT_THAT(refusal({"fits", "--cut", "prefill:8", "--context", "9"}),
              HasSubstr("fits takes it in a cut's place"));
  EXPECT_THAT(refusal({"fits", "--cut", "decode:8", "--context", "9"}),
              HasSubstr("decode:8 states its own context; got 9, want 8"));
  EXPECT_THAT(refusal({"fits", "--cut", "layer:999@decode:1"}), HasSubstr("layer"));
  EXPECT_THAT(refusal({"fits", "--chips", "999"}), HasSubstr("999"));
  EXPECT_THAT(refusal({"fits", "--model", "no-such-model"}), HasSubstr("no-such-model"));
  EXPECT_THAT(refusal({"fits", "--out", "/no/such/folder/f"}), HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace logos::bench
