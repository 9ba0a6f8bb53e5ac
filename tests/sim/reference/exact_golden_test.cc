// The stated error of the arithmetic on stories260K (arithmetic.md): KL of the logits 4.6e-4 over
// 4,000 positions against the checkpoint, 1.1e-7 against the same weights without rounding them.
#include <gtest/gtest.h>

#include "program/genuine.h"
#include "sim/reference/exact.h"
#include "tests/sim/reference/golden.h"
#include "tests/sim/reference/test_model.h"

namespace logos::reference {
namespace {

TEST(ExactStories, TheErrorOfTheArithmeticIsTheOneThatIsStated) {
  const auto dir = std::filesystem::path(LOGOS_SHARED_DIR) / "models" / "stories260K";
  const TestModel model = checkpoint_model(dir);
  const Checkpoint checkpoint(dir);
  Cut cut;
  cut.context = 200;
  const Written written = written_in(model.spec, cut, "");
  const Program program = read_genuine(written.text, "test", written.identity).front();
  const auto sequences = golden("stories260K.tokens.json");
  double whole = 0;
  double alone = 0;
  for (const auto& sequence : sequences.at("sequences")) {
    auto tokens = sequence.get<std::vector<std::int64_t>>();
    for (auto& token : tokens) ++token;
    const auto logits = logits_by_chunks(model, tokens, 200);
    const auto last = static_cast<std::int64_t>(tokens.size());
    const auto exact = exact_logits(program, exact_weights(checkpoint), tokens, last);
    whole += error_of_arithmetic(logits, exact, 512).kl / 20;
    const auto rounded = exact_logits(program, exact_weights(*model.weights), tokens, last);
    alone += error_of_arithmetic(logits, rounded, 512).kl / 20;
  }
  EXPECT_NEAR(whole, 4.6e-4, 0.1e-4);
  EXPECT_NEAR(alone, 1.1e-7, 0.1e-7);
}

}  // namespace
}  // namespace logos::reference
