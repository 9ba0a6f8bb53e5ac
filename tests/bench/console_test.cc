#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/process.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TheConsole, IsATableWithTheClassBesideEveryTime) {
  const Ended ended = run_bench({"--cut", "prefill:4"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("prefill:4, identity "));
  EXPECT_THAT(ended.out, testing::ContainsRegex("reference +[0-9.]+ [munp]?s measured"));
  EXPECT_THAT(ended.out, HasSubstr("  agrees"));
}

TEST(NoTerminal, GetsNoColourAndNoProgress) {
  const Ended ended = run_bench({"--cut", "prefill:4"});
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ended.err, Not(HasSubstr("prefill:4 on")));
}

TEST(ATerminal, GetsColourAndProgress) {
  const Ended ended =
      run_bench({"--cut", "prefill:4"}, {.environment = {{"TERM", "xterm"}}, .terminal = true});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("\x1b[32m"));  // an agreement is green
  EXPECT_THAT(ended.out, HasSubstr("prefill:4 on reference"));
}

TEST(ATerminal, GetsNoColourWhereNoColorIsSet) {
  const Ended ended =
      run_bench({"--cut", "prefill:4"},
                {.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, .terminal = true});
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b[32m")));
  EXPECT_THAT(ended.out, HasSubstr("  agrees"));
}

TEST(ATerminal, ThatIsDumbGetsPlainText) {
  const Ended ended =
      run_bench({"--cut", "prefill:4"}, {.environment = {{"TERM", "dumb"}}, .terminal = true});
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
}

TEST(ATerminal, GetsJsonWithoutColour) {
  const Ended ended = run_bench({"--cut", "prefill:4", "--format", "json", "--lanes", "reference"},
                                {.environment = {{"TERM", "xterm"}}, .terminal = true});
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b[3")));
}

TEST(TheList, NamesWhatThereIs) {
  const Ended ended = run_bench({"--list"});
  EXPECT_EQ(ended.status, 0);
  for (const char* text :
       {"decode:CTX", "prefill:ROWS", "batch:ROWSxCTX", "layer:N@CUT", "kjv", "llama-3.2-1b",
        "llama-3.1-8b", "qwen2.5-0.5b", "qwen3-0.6b", "mistral-7b-v0.1"}) {
    EXPECT_THAT(ended.out, HasSubstr(text));
  }
  EXPECT_THAT(ended.out, testing::ContainsRegex("cuda +built in"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("spatial +(not built|built in)"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n\\* h100-sxm.json .*the default"));
}

TEST(Help, NamesTheOptionsAndTheStatus) {
  const Ended ended = run_bench({"--help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* option :
       {"--cut", "--score", "--artifacts", "--set", "--cycle-limit", "--chip-config", "--trace"}) {
    EXPECT_THAT(ended.out, HasSubstr(option));
  }
}

}  // namespace
}  // namespace logos::bench
