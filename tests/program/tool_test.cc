// The tool as a person runs it: output, messages, exit status.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>

#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int status = -1;  ///< exit status; -1 where a signal ended it
  std::string out;
  std::string error;
};

class Tool : public testing::Test {
 protected:
  /// Runs the tool by the shell; `redirect` replaces the capture of its output.
  Outcome run(const std::string& arguments, const std::string& redirect = "") const {
    const auto out = folder_.path() / "out";
    const auto error = folder_.path() / "error";
    std::filesystem::remove(out);
    const std::string command = std::string(PROGRAM_TOOL) + " " + arguments + " 2>" +
                                error.string() +
                                (redirect.empty() ? " >" + out.string() : redirect);
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (std::filesystem::exists(out)) outcome.out = read_whole(out);
    outcome.error = read_whole(error);
    return outcome;
  }

  TemporaryFolder folder_;
};

TEST_F(Tool, WritesTheTextOfACut) {
  const Outcome outcome = run("write --cut decode:1024 --model llama-3.2-1b --chips 2");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, written_split(*preset("llama-3.2-1b"), Cut::parse("decode:1024"), 2).text);
  EXPECT_EQ(outcome.error, "");
}

TEST_F(Tool, TakesTheEmbeddedModelWhereNoneIsNamed) {
  const Outcome outcome = run("identity --cut prefill:256");
  EXPECT_EQ(outcome.out,
            "prefill:256 1 3e5f87a412ce1b7d47ea7cc0a266ee829cc6baa89ae30bdb9493fb8a6614a1aa\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(run("identity --cut prefill:256 --model kjv").out, outcome.out);
}

TEST_F(Tool, PutsARunsInputsIn) {
  // Ids count from 0 on the command line and from 1 in the text.
  const Outcome step = run("write --cut decode:9 --tokens 255 --position 4 --dir /w");
  EXPECT_EQ(step.out, decode_at(resolve_model("kjv").reading.spec, 9, 256, 4, "/w").text);
  EXPECT_THAT(run("write --cut decode:9 --tokens 255").out, HasSubstr("positions be [9].\n"));
  EXPECT_THAT(run("write --cut decode:3 --tokens 7,8,9").out, HasSubstr("tokens be [10].\n"));
  EXPECT_THAT(run("write --cut prefill:3 --tokens 7,8,9 --position 5").out,
              HasSubstr("tokens be [8, 9, 10].\nLet positions be counted(5, 3).\n"));
  const auto file = folder_.write("tokens", "1 2\n3 4\n");
  EXPECT_THAT(run("write --cut batch:2x2 --tokens @" + file.string()).out,
              HasSubstr("tokens be [3, 5].\nLet positions be [2, 2].\n"));
  EXPECT_THAT(run("write --cut batch:2x9 --tokens 1,2 --position 3").out,
              HasSubstr("tokens be [2, 3].\nLet positions be [3, 3].\n"));
  EXPECT_THAT(run("write --cut layer:2@decode:9 --position 3").out,
              HasSubstr("positions be [3].\n"));
}

TEST_F(Tool, ChecksAndIdentifiesFiles) {
  const Written text = decode_at(small_spec(), 9, 5, 4, "/w");
  const std::string file = folder_.write("a.lg", text.text).string();
  EXPECT_EQ(run("identity " + file).out, text.identity.text() + "\n");
  const Outcome good = run("check " + file);
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.out, file + ": genuine, " + text.identity.text() + "\n");
  EXPECT_EQ(good.error, "");
}

TEST_F(Tool, RefusesFilesAtTheirPlace) {
  const std::string text = written(small_spec(), Cut::parse("decode:9")).text;
  const std::string bad = folder_.write("b.lg", with(text, "x + o", "x + oo")).string();
  const Outcome wrong = run("check " + bad);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.error, bad + ":43:16: found \"oo\", expected a value computed from the inputs\n");
  const std::string other = folder_.write("c.lg", with(text, "x + o", "o + x")).string();
  const Outcome foreign = run("check " + other);
  EXPECT_EQ(foreign.status, 2);
  EXPECT_THAT(foreign.error, StartsWith(other + ":43:12: not the text that the author writes"));
  EXPECT_EQ(run("identity " + other).status, 2);
  EXPECT_EQ(run("check " + folder_.write("empty.lg", "").string()).status, 2);
  EXPECT_EQ(run("check /no/such.lg").status, 2);
  EXPECT_EQ(run("check " + folder_.path().string()).status, 2);
}

TEST_F(Tool, EndsWithTwoOnBadUse) {
  for (const char* arguments : {"",
                                "write",
                                "wrote",
                                "write --cut",
                                "write --cut decode:0",
                                "write --cut decode:9 --cut",
                                "write --cut decode:9 --model nothing",
                                "write --cut decode:9 --chips 5",
                                "write --cut decode:9 --chips 0",
                                "write --cut decode:9 --chips two",
                                "write --cut decode:9 --unknown",
                                "write --cut decode:9 surplus",
                                "identity",
                                "identity --cut decode:9 file.lg",
                                "check",
                                "check a b",
                                "write --cut decode:9 --tokens 256",
                                "write --cut decode:9 --tokens ''",
                                "write --cut decode:9 --tokens 1,2",
                                "write --cut prefill:3 --tokens 1",
                                "write --cut decode:9 --position 1",
                                "write --cut decode:9 --tokens 1 --position 10",
                                "write --cut decode:9 --tokens 1 --position 0",
                                "write --cut decode:9 --tokens 1 --position -1",
                                "write --cut decode:9 --tokens 1 --position 99999999999999999999",
                                "write --cut head@decode:9 --tokens 1",
                                "write --cut head@decode:9 --position 1",
                                "write --cut layer:1@decode:9 --tokens 1",
                                "write --cut embedding@decode:9 --position 1",
                                "write --cut prefill:2 --tokens 1,2 --position 2147483647"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_NE(outcome.error, "") << arguments;
  }
}

TEST_F(Tool, ReadsNumbersInDecimalAndShowsThemAsGiven) {
  EXPECT_EQ(run("identity --cut decode:9 --chips 2").status, 0);
  for (const char* number : {"02", "010", "99999999999999999999", "0x2", "2.0", "''", "1e0", "-"}) {
    const Outcome outcome = run(std::string("identity --cut decode:9 --chips ") + number);
    EXPECT_EQ(outcome.status, 2) << number;
    EXPECT_THAT(outcome.error, HasSubstr("--chips: not a whole number in range; got")) << number;
  }
  EXPECT_THAT(run("write --cut decode:9 --tokens 1 --position 99999999999999999999").error,
              HasSubstr("--position: not a whole number in range; got \"99999999999999999999\""));
}

TEST_F(Tool, NamesTheLineOfATokenFile) {
  const std::string file = folder_.write("tokens", "1 2 3\n1 2\n").string();
  EXPECT_THAT(run("write --cut batch:2x3 --tokens @" + file).error,
              HasSubstr(file + ":2: another count of tokens than a row takes; got 2, want 1 or 3"));
  EXPECT_THAT(run("write --cut decode:3 --tokens @").error,
              HasSubstr("--tokens: no file is named after the @"));
}

TEST_F(Tool, SaysWhichTokensATextDoesNotCarry) {
  EXPECT_EQ(run("write --cut decode:3 --tokens 7,8,9").error,
            "--tokens for decode:3: the text states a step's token, the last id, and its position; "
            "the ids before it, which fill the cache on the bench, are not in it\n");
  EXPECT_EQ(run("write --cut decode:3 --tokens 9").error, "");
  EXPECT_EQ(run("write --cut decode:1 --tokens 9").error, "");
  EXPECT_EQ(run("write --cut prefill:3 --tokens 7,8,9").error, "");
  const auto file = folder_.write("tokens", "1 2\n3 4\n");
  EXPECT_THAT(run("write --cut batch:2x2 --tokens @" + file.string()).error,
              HasSubstr("are not in it"));
  const Outcome help = run("write --help");
  EXPECT_THAT(help.out, HasSubstr("@FILE: separated by white space, one sequence a line"));
  EXPECT_THAT(help.out, HasSubstr("not those that fill the cache"));
}

TEST_F(Tool, HelpsOnRequest) {
  const Outcome outcome = run("--help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("identity"));
}

TEST_F(Tool, SaysWhatItTookForGranted) {
  folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 4,
    "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 3})");
  const std::string dir = folder_.path().string();
  const Outcome outcome = run("identity --cut decode:9 --model " + dir);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.error, HasSubstr(dir + "/config.json: rope_theta is missing: 10000\n"));
  EXPECT_THAT(outcome.error, HasSubstr(dir + "/config.json: rms_norm_eps is missing: 0.000001\n"));
}

TEST_F(Tool, FailsWhereItsOutputCannotBeWritten) {
  const Outcome full = run("write --cut decode:9", " >/dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.error, HasSubstr("standard output: cannot write: No space left"));
  EXPECT_EQ(run("identity --cut decode:9", " >/dev/full").status, 2);
  for (const char* arguments : {"write --cut decode:9", "identity --cut decode:9", "--help"}) {
    const Outcome closed = run(arguments, " >&-");
    EXPECT_EQ(closed.status, 2) << arguments;
    EXPECT_EQ(closed.error, "standard output: cannot write: Bad file descriptor\n") << arguments;
  }
}

TEST_F(Tool, RunsWithoutStandardErrorAndInput) {
  EXPECT_EQ(
      run("identity --cut decode:9", " >" + (folder_.path() / "out").string() + " 2>&- <&-").out,
      run("identity --cut decode:9").out);
  EXPECT_EQ(run("identity --cut decode:0", " >&- 2>&- <&-").status, 2);
}

TEST_F(Tool, NamesACommandThatThereIsNot) {
  EXPECT_EQ(run("wirte --cut decode:3").error,
            "command line: no such command; got \"wirte\", want write, identity or check\n");
  EXPECT_EQ(run("").error,
            "command line: no such command; got \"\", want write, identity or check\n");
}

}  // namespace
}  // namespace logos
