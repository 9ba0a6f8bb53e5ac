// The reference against the known answers of a small GGUF file (profile B): what its text states,
// identities, digests of all logits by steps and in chunks, every operation of the last position.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sim/comparison.h"
#include "sim/dump.h"
#include "tests/sim/reference/golden.h"
#include "tests/sim/reference/test_model.h"

namespace logos {
namespace {

class Gguf : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& token : known_["tokens"]) tokens_.push_back(token.get<std::int64_t>() + 1);
    ASSERT_EQ(tokens_.size(), 48U);
  }

  Inputs inputs(std::size_t first, std::size_t count) const {
    Inputs inputs;
    for (std::size_t i = first; i < first + count; ++i) {
      inputs.tokens.push_back(tokens_[i]);
      inputs.positions.push_back(static_cast<std::int64_t>(i) + 1);
    }
    return inputs;
  }

  const nlohmann::json known_ = golden("gguf/llama-q8_0.json");
  TestModel model_ = gguf_model(std::string(LOGOS_SHARED_DIR) + "/golden/gguf/llama-q8_0.gguf");
  std::vector<std::int64_t> tokens_;
};

TEST_F(Gguf, ItsTextStatesTheModelAndHasTheKnownIdentities) {
  const Written decode = written(model_.spec, Cut::parse("decode:48"));
  std::string lines = "## Model\n";
  for (const auto& line : known_["lines"]) lines += line.get<std::string>() + "\n";
  EXPECT_NE(decode.text.find(lines + "\n"), std::string::npos) << decode.text;
  for (const auto& [cut, sha256] : known_["identity"].items()) {
    EXPECT_EQ(written(model_.spec, Cut::parse(cut)).identity.sha256, sha256) << cut;
  }
}

TEST_F(Gguf, AllLogitsHaveTheirKnownBitsByStepsAndInChunks) {
  const std::vector<float> logits = logits_by_steps(model_, tokens_);
  EXPECT_EQ(sha256_of(logits), known_["logits_sha256"]);
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const auto row = logits.begin() + static_cast<std::ptrdiff_t>(t * 288);
    EXPECT_EQ(std::max_element(row, row + 288) - row, known_["argmax"][t]) << t;
  }
  for (const std::int64_t chunk : {1, 7, 48}) {
    EXPECT_EQ(sha256_of(logits_by_chunks(model_, tokens_, chunk)), known_["logits_sha256"])
        << chunk;
  }
  for (const std::int64_t chips : {2, 3, 4}) {
    EXPECT_EQ(sha256_of(logits_by_steps(model_, tokens_, chips)), known_["logits_sha256"]) << chips;
  }
}

TEST_F(Gguf, EveryOperationOfTheLastPositionHasItsKnownBits) {
  Inputs before = inputs(0, 47);
  before.caches.push_back(model_.cache(48));
  Cut chunk;
  chunk.work = Cut::Work::kPrefill;
  chunk.rows = 47;
  run_reference(split_at(model_.spec, chunk, 1, before.tokens, before.positions), model_, before);
  Inputs last = inputs(47, 1);
  last.caches = before.caches;
  Dump dump;
  std::ostringstream out;
  RunOptions options;
  options.observer = &dump;
  const Result result =
      run_reference(decode_at(model_.spec, 48, last.tokens[0], 48), model_, last, options);
  dump.end_run({0}, out);
  EXPECT_EQ(output_sha256(result), known_["last_row_sha256"]);
  EXPECT_FALSE(result.fault);
  std::istringstream in(out.str());
  std::size_t i = 0;
  for (std::string line; std::getline(in, line); ++i) {
    ASSERT_LT(i, known_["ops"].size());
    EXPECT_EQ(nlohmann::json::parse(line), known_["ops"][i]) << known_["ops"][i]["name"];
  }
  EXPECT_EQ(i, known_["ops"].size());
}

}  // namespace
}  // namespace logos
