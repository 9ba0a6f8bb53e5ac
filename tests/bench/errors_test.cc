#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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
  expect_refusal({"--cut", "decode:2", "--benchmark_min_time=soon"}, "--benchmark_min_time=soon");
}

TEST(Lanes, ThatAreNotThereAreNamed) {
  expect_refusal({"--cut", "decode:2", "--lanes", "d5005"}, "the lane d5005 is not built");
  expect_refusal({"--cut", "decode:2", "--lanes", "reference,spatial"},
                 "the lane spatial is not built");
  expect_refusal({"--cut", "decode:2", "--lanes", "abacus"},
                 "unknown lane; got \"abacus\", want reference, cuda");
  expect_refusal({"--cut", "decode:2", "--lanes", "cuda,cuda"}, "cuda named twice");
  expect_refusal({"--cut", "decode:2", "--lanes", "reference", "--set", "gpu.launch_us=1"},
                 "the lane cuda is not among the lanes");
  expect_refusal({"--cut", "decode:2", "--lanes", "reference", "--gpu", "x"},
                 "the lane cuda is not among the lanes");
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
  expect_refusal({"--cut", "decode:2", "--prompt", ""}, "--prompt: an empty text");
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

TEST(Gpu, ConfigurationsAreChecked) {
  expect_refusal({"--cut", "decode:2", "--gpu", "/no/such.json"}, "/no/such.json");
  expect_refusal({"--cut", "decode:2", "--set", "gpu.colour=1"}, "colour");
  expect_refusal({"--cut", "decode:2", "--set", "gpu.launch_us=fast"}, "launch_us");
}

}  // namespace
}  // namespace logos::bench
