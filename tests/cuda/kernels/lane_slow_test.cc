// All 20 golden sequences, each way to run them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>

#include "scoring.h"

namespace logos::cuda::testing {
namespace {

std::string hash_of_all(const std::vector<std::vector<float>>& logits) {
  std::uint64_t h = 1469598103934665603U;
  for (const auto& sequence_logits : logits) {
    for (const float value : sequence_logits) {
      h = (h ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001B3U;
    }
  }
  return fmt::format("{:016x}", h);
}

TEST(CudaLaneAllSequences, OneByOne) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  const Scoring scoring{lane, model};
  std::vector<std::vector<float>> logits;
  for (std::size_t i = 0; i < 20; ++i) {
    logits.push_back(scoring.by_steps(sequence(i)));
    EXPECT_EQ(digest(logits.back()), sequence_digest(i)) << "sequence " << i;
  }
  EXPECT_EQ(hash_of_all(logits), "5a7068aa855f76f4");
}

TEST(CudaLaneAllSequences, InChunks) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  const Scoring scoring{lane, model};
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(digest(scoring.by_chunks(sequence(i), i % 2 == 0 ? 7 : 64)), sequence_digest(i))
        << "sequence " << i;
  }
}

TEST(CudaLaneAllSequences, TogetherInABatch) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  const Scoring scoring{lane, model};
  std::vector<std::vector<std::int64_t>> sequences;
  for (std::size_t i = 0; i < 20; ++i) sequences.push_back(sequence(i));
  const auto logits = scoring.by_batches(sequences);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(digest(logits[i]), sequence_digest(i)) << "sequence " << i;
  }
  EXPECT_EQ(hash_of_all(logits), "5a7068aa855f76f4");
}

TEST(CudaLaneAllSequences, OverChips) {
  const Model model = stories();
  const CudaLane lane(plain_host());
  for (const std::int64_t chips : {2, 3, 4, 8}) {
    Scoring scoring{lane, model};
    scoring.chips = chips;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(digest(scoring.by_steps(sequence(i))), sequence_digest(i))
          << "sequence " << i << " over " << chips << " chips";
    }
  }
}

}  // namespace
}  // namespace logos::cuda::testing
