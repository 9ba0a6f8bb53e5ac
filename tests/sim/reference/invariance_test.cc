// What never changes a bit: steps or chunks, batch neighbours, chips, threads, instructions, parts
// instead of the whole. On small shapes that are awkward in every respect.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "program/genuine.h"
#include "sim/comparison.h"
#include "sim/reference/executor.h"
#include "sim/reference/reference_lane.h"
#include "tests/sim/reference/random_source.h"
#include "tests/sim/reference/test_model.h"

namespace logos {
namespace {

std::vector<std::int64_t> counted(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

Cut cut_of(Cut::Work work, std::int64_t rows, std::int64_t context) {
  Cut cut;
  cut.work = work;
  cut.rows = rows;
  cut.context = context;
  return cut;
}

bool same_caches(const KvCache& a, const KvCache& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const KvCache::Layer& x, const KvCache::Layer& y) {
                      return x.keys == y.keys && x.values == y.values &&
                             x.key_exponents == y.key_exponents &&
                             x.value_exponents == y.value_exponents;
                    });
}

class Invariance : public testing::TestWithParam<NamedSpec> {
 protected:
  void SetUp() override { model_ = synthetic_model(GetParam().spec); }

  std::int64_t vocabulary() const { return model_.spec.vocabulary; }

  /// The chip counts under test that this shape allows.
  std::vector<std::int64_t> chip_counts() const {
    std::vector<std::int64_t> counts;
    for (const std::int64_t chips : {1, 2, 3, 4, 8}) {
      if (chips <= model_.spec.query_heads) counts.push_back(chips);
    }
    counts.push_back(model_.spec.query_heads);
    return counts;
  }

  /// A chunk from position 1 of a cache of its own.
  Inputs chunk_inputs(const std::vector<std::int64_t>& tokens) const {
    Inputs inputs;
    inputs.tokens = tokens;
    const auto count = static_cast<std::int64_t>(tokens.size());
    inputs.positions = counted(1, count);
    inputs.caches.push_back(model_.cache(count));
    return inputs;
  }

  TestModel model_;
};

TEST_P(Invariance, ChunksOfAnySizeAreTheSteps) {
  const auto tokens = random_tokens(model_.spec, 70, 3);
  const auto steps = logits_by_steps(model_, tokens);
  for (const std::int64_t chunk : {1, 2, 7, 63, 70}) {
    EXPECT_EQ(logits_by_chunks(model_, tokens, chunk), steps) << "chunks of " << chunk;
  }
}

TEST_P(Invariance, AnyNumberOfChipsGivesTheBitsOfOne) {
  const auto tokens = random_tokens(model_.spec, 17, 4);
  const auto steps = logits_by_steps(model_, tokens);
  for (const std::int64_t chips : chip_counts()) {
    EXPECT_EQ(logits_by_steps(model_, tokens, chips), steps) << chips << " chips";
    EXPECT_EQ(logits_by_chunks(model_, tokens, 7, chips), steps) << chips << " chips";
  }
}

TEST_P(Invariance, ThreadsChangeNoBit) {
  const auto tokens = random_tokens(model_.spec, 20, 5);
  const auto steps = logits_by_steps(model_, tokens);
  for (const int threads : {2, 3}) {
    RunOptions options;
    options.threads = threads;
    EXPECT_EQ(logits_by_steps(model_, tokens, 1, options), steps);
    EXPECT_EQ(logits_by_chunks(model_, tokens, 20, 2, options), steps);
  }
}

TEST_P(Invariance, InstructionsChangeNoBit) {
  const auto tokens = random_tokens(model_.spec, 9, 6);
  const Cut cut = cut_of(Cut::Work::kPrefill, 9, 0);
  const Written written = split_at(model_.spec, cut, 2, tokens, counted(1, 9));
  const auto programs = read_genuine(written.text, "test", written.identity);
  std::vector<float> plain;
  for (const auto instructions : reference::available_instructions()) {
    Inputs inputs = chunk_inputs(tokens);
    reference::ExecuteOptions options;
    options.instructions = instructions;
    const auto execution = reference::execute(programs, inputs, *model_.weights, options);
    if (plain.empty()) plain = execution.outputs;
    EXPECT_EQ(execution.outputs, plain) << reference::name_of(instructions);
  }
}

TEST_P(Invariance, AChunkLeavesTheCacheOfTheStepsAndItsLastRow) {
  const auto tokens = random_tokens(model_.spec, 12, 7);
  Inputs steps;
  steps.caches.push_back(model_.cache(12));
  std::vector<float> last;
  for (std::int64_t t = 0; t < 12; ++t) {
    steps.tokens = {tokens[static_cast<std::size_t>(t)]};
    steps.positions = {t + 1};
    last = run_reference(decode_at(model_.spec, 12, steps.tokens[0], t + 1), model_, steps).outputs;
  }
  for (const std::int64_t chips : {1, 3}) {
    Inputs chunk = chunk_inputs(tokens);
    const Cut cut = cut_of(Cut::Work::kPrefill, 12, 0);
    const Written written = split_at(model_.spec, cut, chips, chunk.tokens, chunk.positions);
    const Result result = run_reference(written, model_, chunk);
    EXPECT_EQ(result.outputs, last);
    EXPECT_TRUE(same_caches(steps.caches[0], chunk.caches[0]));
  }
}

TEST_P(Invariance, ARowOfABatchDoesNotSeeItsNeighboursNorItsPlace) {
  constexpr std::int64_t kContext = 9;
  constexpr std::int64_t kRows = 4;
  std::vector<std::vector<std::int64_t>> sequences;
  std::vector<std::vector<float>> alone;
  for (std::int64_t i = 0; i < kRows; ++i) {
    sequences.push_back(random_tokens(model_.spec, kContext - i, 100 + static_cast<unsigned>(i)));
    alone.push_back(logits_by_steps(model_, sequences.back()));
  }
  std::vector<std::size_t> order = {0, 1, 2, 3};
  RandomSource random;
  for (int round = 0; round < 3; ++round) {
    Inputs inputs;
    for (std::int64_t i = 0; i < kRows; ++i) inputs.caches.push_back(model_.cache(kContext));
    // A sequence that has ended stays at its last position: its row is computed again.
    for (std::int64_t t = 0; t < kContext; ++t) {
      inputs.tokens.clear();
      inputs.positions.clear();
      for (const std::size_t i : order) {
        const auto at =
            std::min<std::int64_t>(t, static_cast<std::int64_t>(sequences[i].size()) - 1);
        inputs.tokens.push_back(sequences[i][static_cast<std::size_t>(at)]);
        inputs.positions.push_back(at + 1);
      }
      const Cut cut = cut_of(Cut::Work::kBatch, kRows, kContext);
      const Written step = split_at(model_.spec, cut, 1 + round, inputs.tokens, inputs.positions);
      const Result result = run_reference(step, model_, inputs);
      ASSERT_EQ(result.rows, kRows);
      for (std::size_t row = 0; row < order.size(); ++row) {
        const auto begin = alone[order[row]].begin() + (inputs.positions[row] - 1) * vocabulary();
        const std::vector<float> expected(begin, begin + vocabulary());
        const auto got = result.outputs.begin() + static_cast<std::int64_t>(row) * vocabulary();
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), got)) << "row " << row;
      }
    }
    std::shuffle(order.begin(), order.end(), random.engine());
  }
}

/// Embedding, layers and head of a cut, run one after the other.
Result run_parts(const TestModel& model, const Cut& whole, std::int64_t chips, Inputs inputs) {
  Inputs part_inputs;
  part_inputs.tokens = inputs.tokens;
  Cut part = whole;
  part.part = Cut::Part::kEmbedding;
  Result rows = run_reference(split_at(model.spec, part, chips, inputs.tokens, inputs.positions),
                              model, part_inputs);
  part_inputs.tokens.clear();
  part.part = Cut::Part::kLayer;
  part_inputs.positions = inputs.positions;
  part_inputs.caches = std::move(inputs.caches);
  for (part.layer = 1; part.layer <= model.spec.layers; ++part.layer) {
    part_inputs.given = rows.outputs;
    rows = run_reference(split_at(model.spec, part, chips, inputs.tokens, inputs.positions), model,
                         part_inputs);
  }
  part.layer = 0;
  part.part = Cut::Part::kHead;
  Inputs head_inputs;
  head_inputs.given = rows.outputs;
  return run_reference(split_at(model.spec, part, chips, inputs.tokens, inputs.positions), model,
                       head_inputs);
}

TEST_P(Invariance, PartsOneAfterTheOtherAreTheWhole) {
  const auto tokens = random_tokens(model_.spec, 6, 8);
  for (const std::int64_t chips : {1, 2, 5}) {
    for (const Cut::Work work : {Cut::Work::kDecode, Cut::Work::kPrefill, Cut::Work::kBatch}) {
      const std::int64_t rows = work == Cut::Work::kDecode ? 1 : 6;
      const Cut cut = cut_of(work, rows, work == Cut::Work::kPrefill ? 0 : 8);
      Inputs inputs;
      inputs.tokens.assign(tokens.begin(), tokens.begin() + rows);
      // A step and a batch over caches that hold nothing but zero blocks before.
      inputs.positions = counted(work == Cut::Work::kDecode ? 5 : 1, rows);
      const std::int64_t caches = work == Cut::Work::kBatch ? rows : 1;
      for (std::int64_t i = 0; i < caches; ++i) inputs.caches.push_back(model_.cache(8));
      const Result parts = run_parts(model_, cut, chips, inputs);
      const Result whole = run_reference(
          split_at(model_.spec, cut, chips, inputs.tokens, inputs.positions), model_, inputs);
      EXPECT_TRUE(same_outputs(whole, parts)) << cut.text() << " on " << chips << " chips";
    }
  }
}

TEST_P(Invariance, EveryNamedOperationIsTheSameOnAnyNumberOfChips) {
  const auto tokens = random_tokens(model_.spec, 8, 9);
  const Cut cut = cut_of(Cut::Work::kPrefill, 8, 0);
  std::vector<LineDigest> one;
  for (const std::int64_t chips : chip_counts()) {
    LineDigests digests;
    RunOptions options;
    options.observer = &digests;
    Inputs inputs = chunk_inputs(tokens);
    run_reference(split_at(model_.spec, cut, chips, inputs.tokens, inputs.positions), model_,
                  inputs, options);
    const auto got = digests.digests();
    if (one.empty()) one = got;
    ASSERT_EQ(got.size(), one.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].name, one[i].name);
      EXPECT_EQ(got[i].layer, one[i].layer);
      EXPECT_EQ(got[i].sha256, one[i].sha256) << one[i].name << " of layer " << one[i].layer;
    }
  }
  EXPECT_GE(one.size(), 1u + 23u * 2u + 3u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Invariance, testing::ValuesIn(synthetic_specs()),
                         [](const auto& info) { return info.param.name; });

TEST(Window, PositionsBeforeItDoNotMatterAndThoseInItDo) {
  const TestModel model = synthetic_model(windowed_spec());
  const auto tokens = random_tokens(model.spec, 12, 10);
  const auto step_over = [&](std::int64_t changed) {
    Inputs inputs;
    inputs.tokens = tokens;
    inputs.positions = counted(1, 12);
    inputs.caches.push_back(model.cache(13));
    run_reference(prefill_at(model.spec, tokens, 1), model, inputs);
    KvCache::Layer& layer = inputs.caches[0].layer(1);
    const std::int64_t block = model.spec.key_heads * model.spec.head_columns;
    if (changed >= 0) layer.keys[static_cast<std::size_t>(changed * block)] += 9000;
    inputs.tokens = {5};
    inputs.positions = {13};
    return run_reference(decode_at(model.spec, 13, 5, 13), model, inputs).outputs;
  };
  const auto untouched = step_over(-1);
  EXPECT_EQ(step_over(0), untouched);
  EXPECT_EQ(step_over(7), untouched);  // position 8 of 13 with a window of 5: 9 to 13 are seen
  EXPECT_NE(step_over(8), untouched);
  EXPECT_NE(step_over(11), untouched);
}

}  // namespace
}  // namespace logos
