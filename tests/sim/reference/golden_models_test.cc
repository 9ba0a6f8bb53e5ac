// The reference against the known answers of whole models: every operation of a few positions,
// digests of whole sequences, on decode steps and on chunks.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "sim/dump.h"
#include "sim/reference/reference_lane.h"
#include "tests/sim/reference/golden.h"
#include "tests/sim/reference/test_model.h"

namespace logos {
namespace {

std::filesystem::path models() { return std::filesystem::path(LOGOS_SHARED_DIR) / "models"; }

std::vector<std::int64_t> from_one(std::vector<std::int64_t> tokens) {
  for (auto& token : tokens) ++token;
  return tokens;
}

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> golden_operations() {
  std::ifstream in(std::string(LOGOS_SHARED_DIR) + "/golden/stories260K.ops.jsonl");
  return lines_of(in);
}

std::vector<float> row_of(const std::vector<float>& logits, std::size_t row, std::size_t columns) {
  const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * columns);
  return {begin, begin + static_cast<std::ptrdiff_t>(columns)};
}

/// sum over positions from the second of log(sum(exp(logits))) - logit of the token, in binary64.
double negative_log_likelihood(const std::vector<float>& logits, std::size_t columns,
                               const std::vector<std::int64_t>& tokens) {
  double total = 0;
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    const std::vector<float> row = row_of(logits, t, columns);
    double greatest = static_cast<double>(row[0]);
    for (const float x : row) greatest = std::max(greatest, static_cast<double>(x));
    double sum = 0;
    for (const float x : row) sum += std::exp(static_cast<double>(x) - greatest);
    const auto next = static_cast<std::size_t>(tokens[t + 1] - 1);
    total += greatest + std::log(sum) - static_cast<double>(row[next]);
  }
  return total;
}

class Stories : public testing::Test {
 protected:
  void SetUp() override {
    model_ = checkpoint_model(models() / "stories260K");
    const auto tokens = golden("stories260K.tokens.json");
    for (const auto& sequence : tokens["sequences"]) {
      sequences_.push_back(from_one(sequence.get<std::vector<std::int64_t>>()));
    }
    ASSERT_EQ(sequences_.size(), 20u);
  }

  TestModel model_;
  std::vector<std::vector<std::int64_t>> sequences_;
};

TEST_F(Stories, EveryOperationOfFourPositionsByStepsHasItsKnownBits) {
  Inputs inputs;
  inputs.caches.push_back(model_.cache(512));
  Dump dump;
  std::ostringstream out;
  RunOptions options;
  options.observer = &dump;
  for (std::int64_t position = 1; position <= 4; ++position) {
    inputs.tokens = {sequences_[0][static_cast<std::size_t>(position - 1)]};
    inputs.positions = {position};
    run_reference(decode_at(model_.spec, 512, inputs.tokens[0], position), model_, inputs, options);
    dump.end_run({0}, out);
  }
  std::istringstream in(out.str());
  const auto got = lines_of(in);
  const auto expected = golden_operations();
  ASSERT_GT(expected.size(), 400u);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(nlohmann::json::parse(got[i]), nlohmann::json::parse(expected[i])) << expected[i];
  }
}

/// A chunk computes what follows `last_row` only for its last row.
TEST_F(Stories, EveryOperationOfAChunkHasItsKnownBitsOnAnyNumberOfChips) {
  const auto expected = golden_operations();
  for (const std::int64_t chips : {1, 2, 3, 8}) {
    Inputs inputs;
    inputs.caches.push_back(model_.cache(4));
    inputs.tokens.assign(sequences_[0].begin(), sequences_[0].begin() + 4);
    inputs.positions = {1, 2, 3, 4};
    Cut cut;
    cut.work = Cut::Work::kPrefill;
    cut.rows = 4;
    Dump dump;
    std::ostringstream out;
    RunOptions options;
    options.observer = &dump;
    run_reference(split_at(model_.spec, cut, chips, inputs.tokens, inputs.positions), model_,
                  inputs, options);
    dump.end_run({0, 0, 0, 0}, out);
    std::istringstream in(out.str());
    const auto got = lines_of(in);
    std::vector<std::string> wanted;
    for (const auto& line : expected) {
      const auto operation = nlohmann::json::parse(line);
      const bool of_head = operation["name"] == "logits" || operation["name"] == "final_norm" ||
                           operation["name"] == "final_norm.q16";
      if (!of_head || operation["position"] == 3) wanted.push_back(line);
    }
    ASSERT_EQ(got.size(), wanted.size()) << chips;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(nlohmann::json::parse(got[i]), nlohmann::json::parse(wanted[i])) << wanted[i];
    }
  }
}

TEST_F(Stories, ThreeSequencesByStepsHaveTheirKnownDigests) {
  const auto known = golden("stories260K.logits.json");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto logits = logits_by_steps(model_, sequences_[i]);
    EXPECT_EQ(sha256_of(logits), known["sequence_sha256"][i]) << "sequence " << i;
    for (std::size_t t = 0; t < sequences_[i].size(); ++t) {
      const auto row = row_of(logits, t, 512);
      EXPECT_EQ(std::max_element(row.begin(), row.end()) - row.begin(), known["argmax"][i][t]);
    }
  }
}

TEST_F(Stories, ASequenceInChunksHasItsKnownDigest) {
  const auto known = golden("stories260K.logits.json")["sequence_sha256"];
  for (const std::int64_t chunk : {7, 63, 200}) {
    EXPECT_EQ(sha256_of(logits_by_chunks(model_, sequences_[1], chunk)), known[1]) << chunk;
  }
}

TEST(Kjv, FourSequencesHaveTheirKnownDigests) {
  const TestModel model = checkpoint_model(models() / "kjv");
  const auto known = golden("kjv.logits.json");
  ASSERT_EQ(known["sequences"].size(), 4u);
  for (const auto& sequence : known["sequences"]) {
    const auto tokens = from_one(sequence.at("tokens").get<std::vector<std::int64_t>>());
    ASSERT_EQ(tokens.size(), 256u);
    const auto logits = logits_by_chunks(model, tokens, 256);
    EXPECT_EQ(sha256_of(logits), sequence.at("logits_sha256"));
    EXPECT_EQ(sha256_of(row_of(logits, 255, 256)), sequence.at("last_row_sha256"));
    const double nll = negative_log_likelihood(logits, 256, tokens);
    EXPECT_NEAR(nll, sequence.at("nll_nats").get<double>(), 6e-7);  // given to six places
    EXPECT_NEAR(std::exp(nll / 255), sequence.at("perplexity_per_byte").get<double>(), 6e-7);

    Inputs inputs;
    inputs.tokens = tokens;
    for (std::int64_t p = 1; p <= 256; ++p) inputs.positions.push_back(p);
    inputs.caches.push_back(model.cache(256));
    const Result result = run_reference(prefill_at(model.spec, tokens, 1), model, inputs);
    EXPECT_EQ(output_sha256(result), sequence.at("last_row_sha256"));
  }
}

}  // namespace
}  // namespace logos
