// The whole lane against the known answers of stories260K.

#include <gtest/gtest.h>

#include <sstream>

#include "scoring.h"
#include "sim/dump.h"

namespace logos::cuda::testing {
namespace {

TEST(CudaLaneGolden, StepsGiveTheDigestOfEachSequence) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(digest(Scoring{lane, model}.by_steps(sequence(i))), sequence_digest(i));
  }
}

TEST(CudaLaneGolden, ChunksOfAnySizeGiveTheSameDigest) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  const Scoring scoring{lane, model};
  for (const std::size_t chunk : {1, 2, 7, 63, 200}) {
    EXPECT_EQ(digest(scoring.by_chunks(sequence(0), chunk)), sequence_digest(0))
        << "chunks of " << chunk;
  }
}

TEST(CudaLaneGolden, NeighboursInABatchChangeNothing) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  const auto logits =
      Scoring{lane, model}.by_batches({sequence(2), sequence(0), sequence(1), sequence(0)});
  EXPECT_EQ(digest(logits[0]), sequence_digest(2));
  EXPECT_EQ(digest(logits[1]), sequence_digest(0));
  EXPECT_EQ(digest(logits[2]), sequence_digest(1));
  EXPECT_EQ(digest(logits[3]), sequence_digest(0));
}

class CudaLaneChips : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(CudaLaneChips, GiveTheDigestOfOneChip) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  Scoring scoring{lane, model};
  scoring.chips = GetParam();
  EXPECT_EQ(digest(scoring.by_chunks(sequence(0), 63)), sequence_digest(0));
}
INSTANTIATE_TEST_SUITE_P(UpToTheQueryHeads, CudaLaneChips, ::testing::Range<std::int64_t>(2, 9));

TEST(CudaLaneGolden, TensorCoresAndDotProductsGiveTheSameDigest) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  for (const std::int64_t gemm_rows : {1, 1000}) {
    Scoring scoring{lane, model};
    scoring.config = gpu_config(gemm_rows);
    EXPECT_EQ(digest(scoring.by_chunks(sequence(1), 50)), sequence_digest(1))
        << "gemm_rows " << gemm_rows;
  }
}

/// Every operation of the first four positions, in the form of the golden file.
void expect_golden_operations(const std::string& got) {
  std::ifstream file(golden("stories260K.ops.jsonl"));
  std::istringstream lines(got);
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

class CudaLaneOperations : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(CudaLaneOperations, OfStepsHold) {
  const Model model = stories();
  const CudaLane lane(checked_host());
  const LaneConfig config = gpu_config();
  const Lowered step = lower(lane, model, "decode:200", config, GetParam());
  const auto tokens = sequence(0);
  Inputs inputs;
  inputs.caches.push_back(empty_cache(model.spec, 200));
  Dump dump;
  std::ostringstream got;
  RunOptions options;
  options.observer = &dump;
  for (std::size_t i = 0; i < 4; ++i) {
    inputs.tokens = {tokens[i] + 1};
    inputs.positions = {static_cast<std::int64_t>(i) + 1};
    run(lane, model, step, config, inputs, options);
    dump.end_run({0}, got);
  }
  expect_golden_operations(got.str());
}
INSTANTIATE_TEST_SUITE_P(Chips, CudaLaneOperations, ::testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace logos::cuda::testing
