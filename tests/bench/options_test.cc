#include "bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/lanes.h"
#include "program/error.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Options parsed(const std::vector<std::string>& arguments) {
  return *parse_options(arguments).options;
}

TEST(Options, TakesEveryOptionOfACut) {
  const Options options = parsed({"--cut",
                                  "decode:4,head@prefill:2",
                                  "--model",
                                  "m",
                                  "--weights",
                                  "synthetic:7",
                                  "--lanes",
                                  "cuda,reference",
                                  "--chips",
                                  "2",
                                  "--context",
                                  "9",
                                  "--tokens",
                                  "1,2",
                                  "--position",
                                  "3",
                                  "--generate",
                                  "5",
                                  "--format",
                                  "csv",
                                  "--out",
                                  "o",
                                  "--dump",
                                  "d",
                                  "--artifacts",
                                  "a",
                                  "--gpu",
                                  "g",
                                  "--set",
                                  "gpu.launch_us=2",
                                  "--board",
                                  "b",
                                  "--engine-rows",
                                  "32/16",
                                  "--set",
                                  "board.ddr4.t_rcd=18",
                                  "--exact",
                                  "--stalls",
                                  "11",
                                  "--fill",
                                  "0xFF",
                                  "--cycle-limit",
                                  "13",
                                  "--threads",
                                  "2"});
  ASSERT_EQ(options.cuts.size(), 2u);
  EXPECT_EQ(options.cuts[0].text(), "decode:4");
  EXPECT_EQ(options.cuts[1].text(), "head@prefill:2");
  EXPECT_EQ(options.model, "m");
  EXPECT_EQ(options.synthetic_seed, 7u);
  EXPECT_EQ(options.lanes, (std::vector<std::string>{"cuda", "reference"}));
  EXPECT_EQ(options.chips, 2);
  EXPECT_EQ(options.context, 9);
  EXPECT_EQ(options.tokens, "1,2");
  EXPECT_EQ(options.position, 3);
  EXPECT_EQ(options.generate, 5);
  EXPECT_EQ(options.format, Format::kCsv);
  EXPECT_EQ(options.out, "o");
  EXPECT_EQ(options.dump, "d");
  EXPECT_EQ(options.artifacts, "a");
  EXPECT_EQ(options.gpu, "g");
  ASSERT_EQ(options.gpu_settings.size(), 1u);
  EXPECT_EQ(options.gpu_settings[0], std::make_pair(std::string("launch_us"), std::string("2")));
  EXPECT_EQ(options.board, "b");
  ASSERT_TRUE(options.engine_rows.has_value());
  EXPECT_EQ(options.engine_rows->rows, 32);
  EXPECT_EQ(options.engine_rows->mac_rows, 16);
  ASSERT_EQ(options.board_settings.size(), 1u);
  EXPECT_EQ(options.board_settings[0],
            std::make_pair(std::string("ddr4.t_rcd"), std::string("18")));
  EXPECT_TRUE(options.exact);
  EXPECT_EQ(options.stalls, 11u);
  EXPECT_EQ(options.fill, 0xFFFFFFFFu);
  EXPECT_EQ(options.cycle_limit, 13u);
  EXPECT_EQ(options.threads, 2);
}

TEST(Options, TakesGoogleBenchmarksFlagsApart) {
  const Options options =
      parsed({"--benchmark_filter=cuda", "--cut", "decode:4", "--benchmark_out=x.json",
              "--benchmark_out_format=csv", "--benchmark_repetitions=3", "--benchmark_list_tests"});
  EXPECT_EQ(options.benchmark_flags,
            (std::vector<std::string>{"--benchmark_filter=cuda", "--benchmark_repetitions=3"}));
  EXPECT_EQ(options.benchmark_out, "x.json");
  EXPECT_EQ(options.benchmark_out_format, "csv");
  EXPECT_TRUE(options.benchmark_list_tests);
}

TEST(Options, AFillIsAByteOrAWord) {
  EXPECT_EQ(parsed({"--cut", "decode:1", "--fill", "0x5a"}).fill, 0x5A5A5A5Au);
  EXPECT_EQ(parsed({"--cut", "decode:1", "--fill", "0x7FC00001"}).fill, 0x7FC00001u);
}

TEST(Options, AWaveHasAWindowOfCyclesOrALine) {
  const Options cycles = parsed({"--cut", "decode:1", "--wave", "w", "--wave-window", "5:90"});
  EXPECT_EQ(cycles.wave->file, "w");
  EXPECT_EQ(cycles.wave->first_cycle, 5u);
  EXPECT_EQ(cycles.wave->end_cycle, 90u);
  EXPECT_FALSE(cycles.wave->line.has_value());
  EXPECT_EQ(parsed({"--cut", "decode:1", "--wave", "w", "--wave-window=line:39"}).wave->line, 39);
}

TEST(Options, OneNumberOfEngineRowsSetsBoth) {
  const Options options = parsed({"--cut", "decode:1", "--engine-rows", "16"});
  EXPECT_EQ(options.engine_rows->rows, 16);
  EXPECT_EQ(options.engine_rows->mac_rows, 16);
}

TEST(Options, GenerateNeedsNoCutWhereTokensAreGiven) {
  EXPECT_EQ(parsed({"--generate", "3", "--prompt", "x"}).generate, 3);
  EXPECT_THAT(refusal({"--generate", "3"}), HasSubstr("--cut: missing"));
}

TEST(Options, ListsMayBeGivenInSeveralOptions) {
  const Options options = parsed({"--cut", "decode:1,decode:2", "--lanes=cuda", "--cut=prefill:3",
                                  "--set", "gpu.launch_us=2", "--set=gpu.barrier_ns=3"});
  ASSERT_EQ(options.cuts.size(), 3u);
  EXPECT_EQ(options.cuts[2].text(), "prefill:3");
  EXPECT_EQ(options.lanes, std::vector<std::string>{"cuda"});
  EXPECT_EQ(options.gpu_settings.size(), 2u);
}

struct Refusal {
  std::vector<std::string> arguments;
  std::string message;
};

class RefusedOptions : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedOptions, AreNamed) {
  EXPECT_THAT(refusal(GetParam().arguments), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedOptions,
    testing::Values(
        Refusal{{}, "--cut: missing"}, Refusal{{"--cut", "decode:0"}, "decode:0"},
        Refusal{{"--cut", "walk:4"}, "walk:4"},
        Refusal{{"--cut", "decode:4,"},
                "--cut: item 2 of the list is empty; got "
                "\"decode:4,\""},
        Refusal{{"--cut", ","}, "--cut: item 1 of the list is empty; got \",\""},
        Refusal{{"--cut", ""}, "--cut: item 1 of the list is empty; got \"\""},
        Refusal{{"--cut", "decode:1,,decode:2"}, "--cut: item 2 of the list is empty"},
        Refusal{{"--cut", ",decode:2"}, "--cut: item 1 of the list is empty"},
        Refusal{{"--cut", "[decode:1,decode:2]"}, "[decode:1"},
        Refusal{{"--cut", "decode:1", "decode:2"}, "decode:2"},
        Refusal{{"--cut", "decode:4", "--lanes", "cuda,"}, "--lanes: item 2 of the list is empty"},
        Refusal{{"--cut", "decode:4", "--lanes="}, "--lanes"},
        Refusal{{"--cut", "decode:4", "--set", ""}, "want gpu.KEY=VALUE"},
        Refusal{{"--cut", "decode:4", "--format", "json", "--format", "csv"}, "--format"},
        Refusal{{"--cut", "decode:4", "--weights", "real"}, "want synthetic:SEED"},
        Refusal{{"--cut", "decode:4", "--weights", "synthetic:"}, "--weights"},
        Refusal{{"--cut", "decode:4", "--weights", "synthetic:-1"}, "got \"-1\""},
        Refusal{{"--cut", "decode:4", "--chips", "0"}, "--chips: not a whole number in range"},
        Refusal{{"--cut", "decode:4", "--position", "02"},
                "got \"02\", want 1 or more, without a leading zero"},
        Refusal{{"--cut", "decode:4", "--chips", "-3"}, "got \"-3\""},
        Refusal{{"--cut", "decode:4", "--chips", "two"}, "got \"two\""},
        Refusal{{"--cut", "decode:4", "--chips", "99999999999999999999"},
                "want 1 to 9223372036854775807"},
        Refusal{{"--cut", "decode:4", "--weights", "synthetic:18446744073709551616"},
                "want 0 to 18446744073709551615"},
        Refusal{{"--cut", "decode:4", "--position", "0"}, "--position"},
        Refusal{{"--cut", "decode:4", "--generate", "0"}, "--generate"},
        Refusal{{"--cut", "decode:4", "--threads", "0"}, "--threads"},
        Refusal{{"--cut", "decode:4", "--threads", "5000"}, "want 1 to 1024"},
        Refusal{{"--cut", "decode:4", "--cycle-limit", "0"}, "--cycle-limit"},
        Refusal{{"--cut", "decode:4", "--stalls", "x"}, "--stalls"},
        Refusal{{"--cut", "decode:4", "--fill", "FF"}, "want 0xNN or 0xNNNNNNNN"},
        Refusal{{"--cut", "decode:4", "--fill", "0xFFF"}, "--fill"},
        Refusal{{"--cut", "decode:4", "--fill", "0xGG"}, "--fill"},
        Refusal{{"--cut", "decode:4", "--format", "xml"}, "want console, json or csv"},
        Refusal{{"--cut", "decode:4", "--set", "launch_us=2"}, "want gpu.KEY=VALUE"},
        Refusal{{"--cut", "decode:4", "--set", "gpu.launch_us"}, "want gpu.KEY=VALUE"},
        Refusal{{"--cut", "decode:4", "--set", "gpu.=4"}, "want gpu.KEY=VALUE"},
        Refusal{{"--cut", "decode:4", "--set", "cpu.x=4"}, "unknown owner"},
        Refusal{{"--cut", "decode:4", "--out", ""}, "--out: an empty value"},
        Refusal{{"--cut", "decode:4", "--nonsense"}, "--nonsense"},
        Refusal{{"--cut", "decode:4", "more"}, "more"}, Refusal{{"--cut"}, "--cut"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, RefusedOptions,
    testing::Values(
        Refusal{{"--cut", "decode:2", "--tokens", "1,2", "--prompt", "ab"}, "--prompt"},
        Refusal{{"--cut", "decode:2", "--text", "f"}, "--cut"},
        Refusal{{"--cut", "decode:2", "--chunk", "4"}, "--chunk: only with --score"},
        Refusal{{"--cut", "decode:2", "--batch", "4"}, "--batch: only with --score"},
        Refusal{{"--score"}, "--score: needs the tokens"},
        Refusal{{"--score", "--tokens", "1", "--cut", "decode:2"}, "--cut"},
        Refusal{{"--score", "--tokens", "1", "--generate", "2"}, "--generate"},
        Refusal{{"--score", "--tokens", "1", "--position", "2"}, "--position"},
        Refusal{{"--score", "--tokens", "1", "--trace", "t"}, "together with --trace"},
        Refusal{{"--score", "--tokens", "1", "--chunk", "2", "--batch", "2"}, "--batch"},
        Refusal{{"--cut", "decode:2", "--format", "json", "--benchmark_format=csv"}, "--format"}));

INSTANTIATE_TEST_SUITE_P(NotBuilt, RefusedOptions,
                         testing::Values(Refusal{{"compare", "a", "b"}, "compare"}));

INSTANTIATE_TEST_SUITE_P(
    Machines, RefusedOptions,
    testing::Values(
        Refusal{{"--cut", "decode:2", "--engine-rows", "8/"}, "--engine-rows: not a whole number"},
        Refusal{{"--cut", "decode:2", "--engine-rows", "0"}, "--engine-rows: not a whole number"},
        Refusal{{"--cut", "decode:2", "--engine-rows", "8/8/8"}, "--engine-rows"},
        Refusal{{"--cut", "decode:2", "--wave-window", "1:2"}, "only with --wave"},
        Refusal{{"--cut", "decode:2,decode:3", "--wave", "w"}, "takes one cut; got 2 cuts"},
        Refusal{{"--cut", "decode:2", "--wave", "w", "--wave-window", "9"}, "want A:B or line:N"},
        Refusal{{"--cut", "decode:2", "--wave", "w", "--wave-window", "9:9"}, "an empty window"},
        Refusal{{"--cut", "decode:2", "--wave", "w", "--wave-window", "line:0"}, "1 or more"},
        Refusal{{"--cut", "decode:2", "--set", "boards.x=1"}, "unknown owner of a setting"},
        Refusal{{"--cut", "decode:2", "--set", "board.x"}, "want gpu.KEY=VALUE, board."}));

INSTANTIATE_TEST_SUITE_P(
    GoogleBenchmark, RefusedOptions,
    testing::Values(
        Refusal{{"--cut", "decode:2", "--benchmark_frobnicate=1"}, "unknown flag"},
        Refusal{{"--cut", "decode:2", "--benchmark_out"}, "no file given"},
        Refusal{{"--cut", "decode:2", "--benchmark_out_format=xml"}, "want console, json or csv"},
        Refusal{{"--cut", "decode:2", "--benchmark_format=xml"}, "want console, json or csv"},
        Refusal{{"--cut", "decode:2", "--benchmark_list_tests=perhaps"}, "want true or false"},
        Refusal{{"--cut", "decode:2", "--benchmark_repetitions=0"}, "--benchmark_repetitions"},
        Refusal{{"--cut", "decode:2", "--benchmark_min_time=-1"}, "got \"-1\""},
        Refusal{{"--cut", "decode:2", "--benchmark_min_time=nan"}, "got \"nan\""},
        Refusal{{"--cut", "decode:2", "--v=x"}, "--v: not a whole number"},
        Refusal{{"--cut", "decode:2", "--benchmark_color="}, "--benchmark_color: an empty value"}));

TEST(Options, HelpAndVersionAreTexts) {
  EXPECT_THAT(parse_options({"--help"}).usage->text, HasSubstr("--cut"));
  EXPECT_THAT(parse_options({"--version"}).usage->text, HasSubstr("Logos Workbench"));
}

}  // namespace
}  // namespace logos::bench
