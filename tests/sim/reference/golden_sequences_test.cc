// All 20 sequences of stories260K, token by token: the digest that names the arithmetic.
#include <gtest/gtest.h>

#include <bit>

#include "tests/sim/reference/golden.h"
#include "tests/sim/reference/test_model.h"

namespace logos {
namespace {

TEST(StoriesSequences, AllTwentyGiveTheDigestOfTheArithmetic) {
  const TestModel model =
      checkpoint_model(std::filesystem::path(LOGOS_SHARED_DIR) / "models" / "stories260K");
  const auto known = golden("stories260K.logits.json");
  const auto sequences = golden("stories260K.tokens.json")["sequences"];
  ASSERT_EQ(sequences.size(), 20u);
  std::uint64_t hash = 1469598103934665603u;
  std::size_t index = 0;
  for (const auto& sequence : sequences) {
    auto tokens = sequence.get<std::vector<std::int64_t>>();
    for (auto& token : tokens) ++token;
    const auto logits = logits_by_steps(model, tokens);
    EXPECT_EQ(sha256_of(logits), known["sequence_sha256"][index++]);
    for (const float logit : logits) {
      hash = (hash ^ std::bit_cast<std::uint32_t>(logit)) * 0x100000001B3u;
    }
  }
  EXPECT_EQ(hash, 0x5a7068aa855f76f4u);
}

}  // namespace
}  // namespace logos
