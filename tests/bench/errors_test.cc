#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/built_lanes.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

/// Status 2, the message on standard error, nothing on standard output.
void expect_refusal(const std::vector<std::string>& arguments, const std::string& message) {
  const Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.status, 2) << message;
  EXPECT_THAT(ended.err, HasSubstr(message));
  EXPECT_EQ(ended.out, "");
}

TEST(BadUsage, EndsWith2AndOneMessage) {
  expect_refusal({}, "--cut: missing");
  expect_refusal({"--cut", "decode:0"}, "cut \"decode:0\"");
  expect_refusal({"--cut", "layer:4@decode:2"}, "got 4, want 1 to 3");
  expect_refusal({"--cut", "decode:2", "--nonsense"}, "--nonsense");
  expect_refusal({"--cut", "decode:2", "--benchmark_nonsense=1"}, "unknown flag");
  expect_refusal({"--cut", "decode:2", "--benchmark_min_time=soon"},
                 "--benchmark_min_time: not a time; got \"soon\", want a number of seconds");
  expect_refusal({"--cut", "decode:2", ""}, "command line: ");
  expect_refusal({"--cut", "decode:2", "decode:3"}, "decode:3");
}

TEST(Lanes, ThatAreNotThereAreNamed) {
  for (const char* lane : {"d5005", "spatial"}) {
    if (is_built(lane)) continue;
    expect_refusal({"--cut", "decode:2", "--lanes", fmt::format("reference,{}", lane)},
                   fmt::format("the lane {} is not built", lane));
  }
  expect_refusal(
      {"--cut", "decode:2", "--lanes", "abacus"},
      fmt::format("unknown lane; got \"abacus\", want {}", fmt::join(built_lanes(), ", ")));
  expect_refusal({"--cut", "decode:2", "--lanes", "cuda,cuda"}, "cuda named twice");
  expect_refusal({"--cut", "decode:2", "--lanes", "reference", "--set", "gpu.launch_us=1"},
                 "the lane cuda is not among the lanes");
  expect_refusal({"--cut", "decode:2", "--lanes", "reference", "--gpu", "x"},
                 "the lane cuda is not among the lanes");
}

TEST(ABrokenBoard, IsComparedAndNamed) {
  if (!is_built("d5005")) return;
  const Ended ended =
      run_bench({"--cut", "decode:64", "--lanes", "reference,d5005", "--fault", "bank2:flip@5000"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("DIFFERS"));
}

/// Where the run that would show the first line that differs fails, what is known is told.
TEST(ABrokenBoard, IsComparedWhereItsSecondRunFails) {
  if (!is_built("d5005")) return;
  const Ended ended = run_bench({"--cut", "decode:4,batch:9x12", "--chips", "3", "--lanes",
                                 "reference,d5005", "--fault", "bank1:flip@0"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("decode:4"));
  EXPECT_THAT(ended.out, HasSubstr("DIFFERS"));
  EXPECT_THAT(ended.err, HasSubstr("batch:9x12: the run that shows every operation failed: "));
}

TEST(ABrokenBoard, CannotMakeItsCountersLie) {
  if (!is_built("d5005")) return;
  for (const char* fault : {"engine:flip@8306", "engine:flip@8345"}) {
    const Ended ended = run_bench(
        {"--cut", "decode:4", "--lanes", "reference,d5005", "--format", "json", "--fault", fault});
    const auto lane = nlohmann::json::parse(ended.out)["cuts"][0]["lanes"][1];
    EXPECT_EQ(ended.status, 2) << fault;
    EXPECT_THAT(lane["failed"].get<std::string>(), HasSubstr("counters of a run")) << fault;
  }
}

TEST(Lanes, WithoutTheEngineItsOptionsAreRefused) {
  const std::vector<std::vector<std::string>> all = {{"--board", "d5005.json"},
                                                     {"--engine-rows", "8"},
                                                     {"--set", "board.ddr4.cl=20"},
                                                     {"--fault", "bank0:silent@1"}};
  for (const std::vector<std::string>& option : all) {
    std::vector<std::string> arguments = {"--cut", "decode:2", "--lanes", "reference"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    std::string message = "not built: it needs the lane d5005";
    if (is_built("d5005")) {
      message = "the lane d5005 is not among the lanes";
    } else if (option.front() == "--fault" && is_built("spatial")) {
      message = "no such unit; got \"bank0\"";  // the lane spatial's units are others
    }
    expect_refusal(arguments, message);
  }
  if (is_built("d5005")) return;
  expect_refusal({"--cut", "decode:2", "--lanes", "d5005"}, "the lane d5005 is not built");
}

TEST(Settings, OfUnknownKeysAreRefusedWithThoseThatThereAre) {
  const std::pair<const char*, const char*> all[] = {
      {"gpu.foo", "cuda"}, {"board.ddr4.foo", "d5005"}, {"chip.foo", "spatial"}};
  for (const auto& [key, lane] : all) {
    if (!is_built(lane)) continue;
    const std::string setting = std::string(key) + "=1";
    expect_refusal({"--cut", "decode:2", "--lanes", lane, "--set", setting},
                   "--set " + setting + ": unknown key; got foo, want one of ");
  }
}

TEST(Chips, BeyondTheQueryHeadsAreRefusedWithBothNumbers) {
  expect_refusal({"--cut", "decode:2", "--chips", "5"}, "got 5 chips, want 1 to 4 chips");
  expect_refusal({"--cut", "decode:2", "--chips", "0"}, "got \"0\", want 1 or more");
}

TEST(Tokens, ThatAreWrongAreRefusedWithTheirPlace) {
  expect_refusal({"--cut", "decode:2", "--tokens", "1,256"}, "item 2");
  expect_refusal({"--cut", "decode:2", "--tokens", "1,-1"}, "item 2");
  expect_refusal({"--cut", "decode:2", "--tokens", "4294967295,1"}, "item 1");
  expect_refusal({"--cut", "decode:2", "--tokens", "1,,2"}, "item 2");
  expect_refusal({"--cut", "decode:2", "--tokens", "1,x"}, "item 2");
  expect_refusal({"--cut", "decode:2", "--tokens", "1,2,3"}, "got 3, want 2");
  TemporaryFolder folder;
  std::ofstream(folder / "empty").close();
  const std::string empty = (folder / "empty").string();
  expect_refusal({"--cut", "decode:2", "--tokens", at_file(empty)}, empty);
  expect_refusal({"--cut", "decode:2", "--tokens", "@/no/such/file"}, "/no/such/file");
  expect_refusal({"--cut", "decode:2", "--tokens", "@"},
                 "--tokens: no file is named after the @; got \"@\", want @FILE");
  expect_refusal({"--cut", "decode:2", "--tokens", at_file(folder.path())}, "not a regular file");
  expect_refusal({"--cut", "decode:2", "--prompt", ""}, "--prompt: an empty text");
}

TEST(Tokens, OfAFileAreRefusedWithTheirLine) {
  TemporaryFolder folder;
  const std::string file = (folder / "t").string();
  const auto expect = [&](std::string_view lines, std::vector<std::string> arguments,
                          const std::string& message) {
    std::ofstream(file) << lines;
    arguments.insert(arguments.end(), {"--tokens", at_file(file)});
    expect_refusal(arguments, message);
  };
  expect("1 2\n3 256\n", {"--cut", "batch:2x2"}, file + ":2: item 2");
  expect("1 2\n3\n", {"--cut", "batch:2x2"},
         "--tokens " + file + ":2 for batch:2x2: count of ids; got 1, want 2");
  expect("1 2\n", {"--cut", "batch:2x2"},
         "--tokens " + file + ":2 for batch:2x2: count of sequences; got 1, want 2");
  expect("1 2\n1 2\n1 2\n", {"--cut", "batch:2x2"},
         "--tokens " + file + ":3 for batch:2x2: count of sequences; got 3, want 2");
  expect("1 2\n\n3 4\n", {"--score"}, file + ":2: no tokens; got an empty line");
  expect("1\n1 2 3\n", {"--score", "--context", "2"},
         "--context: shorter than the sequence of --tokens " + file + ":2; got 2, want 3 or more");
}

TEST(Generation, OfMoreTokensThanThereArePositionsIsRefused) {
  expect_refusal({"--generate", "9223372036854775807", "--tokens", "1,2"},
                 "--generate: too many tokens; got 9223372036854775807, want 1 to 2147483646");
  expect_refusal({"--generate", "2000000000", "--tokens", "1,2"}, "host's memory");
}

TEST(Models, ThatAreNotThereAreNamed) {
  expect_refusal({"--cut", "decode:2", "--model", "/no/such/model"}, "/no/such/model");
}

TEST(Prompt, NeedsAByteVocabulary) {
  expect_refusal({"--cut", "decode:2", "--model", "qwen2.5-0.5b", "--prompt", "ab"},
                 "qwen2.5-0.5b has no byte vocabulary");
}

TEST(Generation, NeedsOneSequence) {
  expect_refusal({"--cut", "batch:2x2", "--generate", "3"}, "continues one sequence");
  expect_refusal({"--cut", "layer:1@prefill:2", "--generate", "3"}, "continues one sequence");
  expect_refusal({"--cut", "prefill:2", "--context", "3", "--generate", "3"},
                 "got 3, want 4 or more");
}

TEST(Score, RefusesAContextTooShort) {
  expect_refusal({"--score", "--tokens", "1,2,3", "--context", "2"}, "got 2, want 3 or more");
}

TEST(Gpu, IsTakenByEveryNameThatTheListPrints) {
  const Ended list = run_bench({"--list"});
  ASSERT_EQ(list.status, 0);
  const std::size_t begin = list.out.find("configurations of GPUs (--gpu)\n");
  const std::size_t end = list.out.find("configurations of", begin + 1);
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(list.out.substr(begin, end - begin));
  std::string line;
  std::getline(lines, line);
  int names = 0;
  while (std::getline(lines, line)) {
    const std::string file = line.substr(2, line.find(' ', 2) - 2);
    const std::size_t title_at = line.find_first_not_of(' ', 2 + file.size());
    const std::string title = line.substr(title_at, line.find(" (the default)") - title_at);
    for (const std::string& name : {file, file.substr(0, file.find(".json")), title}) {
      EXPECT_EQ(run_bench({"--cut", "decode:1", "--lanes", "cuda", "--gpu", name}).status, 0)
          << name;
    }
    ++names;
  }
  EXPECT_GE(names, 5);
  EXPECT_THAT(list.out, HasSubstr("configurations of boards (--board)\n* d5005.json"));
}

TEST(Gpu, IsRefusedWithTheCauseAndTheNamesThereAre) {
  expect_refusal(
      {"--cut", "decode:2", "--gpu", "h300"},
      "--gpu: neither a file nor the name of a configuration; got \"h300\", want a file, "
      "or one of a100-sxm-80gb.json, b200.json, h100-sxm.json");
  expect_refusal({"--cut", "decode:2", "--gpu", "/no/such.json"},
                 "/no/such.json: cannot be opened: No such file or directory");
  TemporaryFolder folder;
  expect_refusal({"--cut", "decode:2", "--gpu", folder.path().string()},
                 folder.path().string() + ": is not a regular file");
  const std::string file = (folder / "g.json").string();
  std::ofstream(file) << "{\"name\": \"x\x01\"}";
  expect_refusal({"--cut", "decode:2", "--gpu", file}, file + ": name: not JSON");
  std::ofstream(file) << "{\"clock_mhz\": " << std::string(100000, '[');
  expect_refusal({"--cut", "decode:2", "--gpu", file}, "nested deeper than 32");
}

TEST(ABrokenConfiguration, IsRefusedAlikeForABoardAndAGpu) {
  TemporaryFolder folder;
  const std::string file = (folder / "c.json").string();
  for (const char* text : {"{\"name\": x}", "{", "[1]", "{\"a\": 1, \"a\": 2}"}) {
    std::ofstream(file) << text;
    const Ended gpu = run_bench({"--cut", "decode:2", "--gpu", file});
    EXPECT_EQ(gpu.status, 2);
    EXPECT_THAT(gpu.err, testing::StartsWith("bench: " + file + ": "));
    EXPECT_THAT(gpu.err, testing::Not(HasSubstr("json.exception")));
    if (!is_built("d5005")) continue;
    EXPECT_EQ(run_bench({"--cut", "decode:2", "--board", file}).err, gpu.err);
  }
}

TEST(Gpu, ConfigurationsAreChecked) {
  expect_refusal({"--cut", "decode:2", "--gpu", "/no/such.json"}, "/no/such.json");
  expect_refusal({"--cut", "decode:2", "--set", "gpu.colour=1"}, "colour");
  expect_refusal({"--cut", "decode:2", "--set", "gpu.launch_us=fast"}, "launch_us");
}

}  // namespace
}  // namespace logos::bench
