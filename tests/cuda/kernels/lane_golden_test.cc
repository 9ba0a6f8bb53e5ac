// The whole lane against the known answers of stories260K.

#include <gtest/gtest.h>

#include <map>

#include "sim/dump.h"
#include "stories.h"

namespace logos::cuda::testing {
namespace {

/// Token ids (from 0) of a golden sequence.
std::vector<std::int64_t> sequence(std::size_t index) {
  const auto file = read_json(golden("stories260K.tokens.json"));
  return file["sequences"][index].get<std::vector<std::int64_t>>();
}
std::string sequence_digest(std::size_t index) {
  const auto file = read_json(golden("stories260K.logits.json"));
  return file["sequence_sha256"][index].get<std::string>();
}

/// All logits of a sequence, one decode step a token.
std::vector<float> by_steps(const Lane& lane, const Model& model, const LaneConfig& config,
                            const std::vector<std::int64_t>& tokens, std::int64_t chips,
                            const RunOptions& options = {}) {
  const Lowered step = lower(lane, model, "decode:200", config, chips);
  Inputs inputs;
  inputs.caches.push_back(empty_cache(model.spec, 200));
  std::vector<float> logits;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    inputs.tokens = {tokens[i] + 1};
    inputs.positions = {static_cast<std::int64_t>(i) + 1};
    const Result result = run(lane, model, step, config, inputs, options);
    logits.insert(logits.end(), result.outputs.begin(), result.outputs.end());
  }
  return logits;
}

TEST(CudaLaneGolden, StepsGiveTheDigestOfEachSequence) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(digest(by_steps(lane, model, gpu_config(), sequence(i), 1)), sequence_digest(i));
  }
}

TEST(CudaLaneGolden, EveryOperationHolds) {
  const Model model = stories();
  const CudaLane lane(checked_host());
  const LaneConfig config = gpu_config();
  const Lowered step = lower(lane, model, "decode:200", config);
  const auto tokens = sequence(0);
  Inputs inputs;
  inputs.caches.push_back(empty_cache(model.spec, 200));
  Dump dump;
  std::ostringstream got;
  for (std::size_t i = 0; i < 4; ++i) {
    inputs.tokens = {tokens[i] + 1};
    inputs.positions = {static_cast<std::int64_t>(i) + 1};
    RunOptions options;
    options.observer = &dump;
    run(lane, model, step, config, inputs, options);
    dump.end_run({0}, got);
  }
  std::ifstream file(golden("stories260K.ops.jsonl"));
  std::istringstream lines(got.str());
  std::string want;
  std::string line;
  int count = 0;
  while (std::getline(file, want)) {
    ASSERT_TRUE(std::getline(lines, line)) << "missing: " << want;
    ASSERT_EQ(nlohmann::json::parse(line), nlohmann::json::parse(want));
    ++count;
  }
  EXPECT_FALSE(std::getline(lines, line)) << "surplus: " << line;
  EXPECT_GT(count, 500);
}

}  // namespace
}  // namespace logos::cuda::testing
