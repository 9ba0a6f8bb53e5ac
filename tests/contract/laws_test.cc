// What may never change a bit, on every lane: chunks, neighbours, threads, seeds, fill; and that
// parts compose to the whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/contract/contract.h"

namespace logos::contract {
namespace {

constexpr std::int64_t kTokens = 12;

std::vector<std::int64_t> prompt() {
  std::vector<std::int64_t> tokens(kTokens);
  for (std::int64_t i = 0; i < kTokens; ++i) {
    tokens[static_cast<std::size_t>(i)] = 1 + (i * 41 + 5) % 97;
  }
  return tokens;
}

class Laws : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const std::string family = std::get<1>(GetParam());
  const bench::LaneEntry lane = lane_named(std::get<0>(GetParam()));

  KvCache empty_cache(std::int64_t positions) const {
    const ModelSpec spec = small_model(family);
    return KvCache(positions, spec.key_heads, spec.head_columns, 1, spec.layers);
  }

  /// The tokens in chunks of `size`, the last as it comes; returns the logits of the last.
  std::vector<float> in_chunks(const std::vector<std::int64_t>& tokens, std::int64_t size) const {
    Inputs inputs;
    inputs.caches = {empty_cache(kTokens)};
    std::vector<float> logits;
    const auto count = static_cast<std::int64_t>(tokens.size());
    for (std::int64_t first = 0; first < count; first += size) {
      const std::int64_t rows = std::min(size, count - first);
      const Job job(family, fmt::format("prefill:{}", rows), 1);
      inputs.tokens.assign(tokens.begin() + first, tokens.begin() + first + rows);
      inputs.positions.resize(static_cast<std::size_t>(rows));
      std::iota(inputs.positions.begin(), inputs.positions.end(), first + 1);
      Outcome outcome = run(lane, job, inputs);
      inputs.caches = outcome.inputs.caches;
      logits = outcome.result.outputs;
    }
    return logits;
  }

  std::vector<float> by_steps(const std::vector<std::int64_t>& tokens, KvCache* left) const {
    const Job job(family, fmt::format("decode:{}", kTokens), 1);
    Inputs inputs;
    inputs.caches = {empty_cache(kTokens)};
    std::vector<float> logits;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      inputs.tokens = {tokens[i]};
      inputs.positions = {static_cast<std::int64_t>(i) + 1};
      Outcome outcome = run(lane, job, inputs);
      inputs.caches = outcome.inputs.caches;
      logits = outcome.result.outputs;
    }
    if (left != nullptr) *left = inputs.caches.front();
    return logits;
  }

  /// Embedding, layers and head of a whole cut one after another, each run on the lane.
  std::vector<float> composed(const std::string& cut, const Inputs& whole) const {
    Inputs stream = whole;
    stream.positions.clear();
    stream.caches.clear();
    std::vector<float> rows = run(lane, Job(family, "embedding@" + cut, 1), stream).result.outputs;
    stream.tokens.clear();
    for (std::int64_t n = 1; n <= small_model(family).layers; ++n) {
      Inputs part = whole;
      part.tokens.clear();
      part.given = rows;
      rows = run(lane, Job(family, fmt::format("layer:{}@{}", n, cut), 1), part).result.outputs;
    }
    stream.given = rows;
    return run(lane, Job(family, "head@" + cut, 1), stream).result.outputs;
  }
};

TEST_P(Laws, ChunksOfAnySizeGiveTheBitsOfSteps) {
  const std::string steps = digest_of(by_steps(prompt(), nullptr));
  for (const std::int64_t size : {1, 2, 7, 11, 12}) {
    EXPECT_EQ(digest_of(in_chunks(prompt(), size)), steps) << "chunks of " << size;
  }
}

TEST_P(Laws, ARowOfABatchIsAStepWhateverItsNeighbours) {
  KvCache cache = empty_cache(kTokens);
  const std::vector<std::int64_t> tokens = prompt();
  std::vector<std::int64_t> before(tokens.begin(), tokens.end() - 1);
  by_steps(before, &cache);
  const std::vector<float> step = by_steps(tokens, nullptr);

  const Job job(family, fmt::format("batch:3x{}", kTokens), 1);
  const KvCache other = inputs_of(job, 3).caches.front();
  for (std::size_t row = 0; row < 3; ++row) {
    Inputs inputs;
    inputs.tokens = {5, 50, 97};
    inputs.positions = {1, 7, kTokens};
    inputs.caches = {other, empty_cache(kTokens), other};
    inputs.tokens[row] = tokens.back();
    inputs.positions[row] = kTokens;
    inputs.caches[row] = cache;
    const Outcome outcome = run(lane, job, inputs);
    const auto begin =
        outcome.result.outputs.begin() + static_cast<std::ptrdiff_t>(row) * outcome.result.columns;
    EXPECT_EQ(digest_of({begin, begin + outcome.result.columns}), digest_of(step)) << row;
  }
}

TEST_P(Laws, PartsComposeToTheWhole) {
  for (const std::string cut : {"decode:5", "prefill:7", "batch:3x4"}) {
    const Job job(family, cut, 1);
    const Inputs inputs = inputs_of(job, 11);
    EXPECT_EQ(digest_of(composed(cut, inputs)), output_sha256(run(lane, job, inputs).result))
        << cut;
  }
}

TEST_P(Laws, ThreadsSeedsStallsAndFillChangeNothing) {
  for (const std::string cut : {"prefill:12", "batch:3x4"}) {
    const Job job(family, cut, 2);
    const Inputs inputs = inputs_of(job, 13);
    const Outcome plain = run(lane, job, inputs);
    RunOptions options;
    options.threads = 2;
    options.seed = 99;
    options.stalls = true;
    for (const std::uint32_t fill : {0xFFFFFFFFU, 0x7FC00001U, 0x80000000U, 0xA5A5A5A5U}) {
      options.fill = fill;
      EXPECT_EQ(difference(plain, run(lane, job, inputs, options)), "")
          << cut << " fill " << fmt::format("{:08X}", fill);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lanes, Laws,
    ::testing::Combine(::testing::ValuesIn(lane_names()),
                       ::testing::Values("llama", "mistral", "qwen2", "qwen3")),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace logos::contract
