// The evaluation in binary64 and the error of the arithmetic against it.
#include "sim/reference/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "program/error.h"
#include "program/genuine.h"
#include "tests/sim/reference/test_model.h"

namespace logos::reference {
namespace {

Program program_of(const ModelSpec& spec, const Cut& cut, std::int64_t chips = 1) {
  const Written written = written_split(spec, cut, chips);
  return read_genuine(written.text, "test", written.identity).front();
}

Cut decode_of(std::int64_t context) {
  Cut cut;
  cut.context = context;
  return cut;
}

TEST(Exact, LogitsAreNearThoseOfTheArithmeticForEveryFamily) {
  for (const NamedSpec& named : synthetic_specs()) {
    const TestModel model = synthetic_model(named.spec);
    const auto tokens = random_tokens(named.spec, 15, 11);
    const auto logits = logits_by_steps(model, tokens);
    const auto exact = exact_logits(program_of(named.spec, decode_of(15)),
                                    exact_weights(*model.weights), tokens, 15);
    const auto error = error_of_arithmetic(logits, exact, named.spec.vocabulary);
    double largest = 0;
    for (const double logit : exact) largest = std::max(largest, std::abs(logit));
    EXPECT_GT(largest, 0.0) << named.name;
    EXPECT_LT(error.max_logit_error, 2e-3 * largest) << named.name;
    EXPECT_GT(error.max_logit_error, 0.0) << named.name;
    EXPECT_LT(error.kl, 1e-5) << named.name;
  }
}

TEST(Exact, EveryWorkOfTheSameTokensIsTheSame) {
  const ModelSpec spec = biased_spec();
  const TestModel model = synthetic_model(spec);
  const auto weights = exact_weights(*model.weights);
  const auto tokens = random_tokens(spec, 7, 12);
  const auto all = exact_logits(program_of(spec, decode_of(7)), weights, tokens, 7);
  const std::vector<double> last(all.end() - spec.vocabulary, all.end());
  EXPECT_EQ(exact_logits(program_of(spec, decode_of(7)), weights, tokens, 1), last);
  Cut cut;
  cut.work = Cut::Work::kPrefill;
  cut.rows = 7;
  EXPECT_EQ(exact_logits(program_of(spec, cut), weights, tokens, 1), last);
  EXPECT_EQ(exact_logits(program_of(spec, cut), weights, tokens, 7), all);
  cut.work = Cut::Work::kBatch;
  cut.rows = 3;
  cut.context = 7;
  EXPECT_EQ(exact_logits(program_of(spec, cut), weights, tokens, 1), last);
  EXPECT_EQ(exact_logits(program_of(spec, cut), weights, tokens, 7, 3), all) << "threads";
}

Cut part_of(Cut cut, Cut::Part part, std::int64_t layer = 0) {
  cut.part = part;
  cut.layer = layer;
  return cut;
}

TEST(Exact, PartsOneAfterAnotherAreTheWhole) {
  constexpr std::int64_t kEvery = std::numeric_limits<std::int64_t>::max();
  for (const NamedSpec& named : synthetic_specs()) {
    const ModelSpec& spec = named.spec;
    const TestModel model = synthetic_model(spec);
    const auto weights = exact_weights(*model.weights);
    const auto tokens = random_tokens(spec, 9, 13);
    Cut chunk;
    chunk.work = Cut::Work::kPrefill;
    chunk.rows = 9;
    auto rows = exact_outputs(program_of(spec, part_of(chunk, Cut::Part::kEmbedding)), weights,
                              {.tokens = tokens}, kEvery);
    for (std::int64_t n = 1; n <= spec.layers; ++n) {
      rows = exact_outputs(program_of(spec, part_of(chunk, Cut::Part::kLayer, n)), weights,
                           {.given = rows}, kEvery);
      EXPECT_EQ(std::ssize(rows), 9 * spec.columns);
    }
    const auto all = exact_logits(program_of(spec, chunk), weights, tokens, 9);
    Cut step;
    step.work = Cut::Work::kBatch;
    step.rows = 9;
    step.context = 9;
    EXPECT_EQ(exact_outputs(program_of(spec, part_of(step, Cut::Part::kHead)), weights,
                            {.given = rows}, kEvery),
              all)
        << named.name;
    EXPECT_EQ(exact_outputs(program_of(spec, part_of(chunk, Cut::Part::kHead)), weights,
                            {.given = rows}, 1),
              std::vector<double>(all.end() - spec.vocabulary, all.end()))
        << named.name;
  }
}

TEST(Exact, ACacheOfTheArithmeticStandsForTheNumbersThatItStores) {
  for (const NamedSpec& named : synthetic_specs()) {  // among them a window of 5
    const ModelSpec& spec = named.spec;
    const TestModel model = synthetic_model(spec);
    const auto weights = exact_weights(*model.weights);
    const auto tokens = random_tokens(spec, 12, 14);
    Inputs inputs;
    inputs.caches.push_back(model.cache(12));
    const auto run_chunk = [&](std::int64_t first, std::int64_t rows) {
      Cut cut;
      cut.work = Cut::Work::kPrefill;
      cut.rows = rows;
      inputs.tokens.assign(tokens.begin() + first, tokens.begin() + first + rows);
      inputs.positions.clear();
      for (std::int64_t i = 0; i < rows; ++i) inputs.positions.push_back(first + i + 1);
      return run_reference(written_in(spec, cut, ""), model, inputs).outputs;
    };
    run_chunk(0, 8);
    const KvCache before = inputs.caches.front();
    const auto logits = run_chunk(8, 4);

    Cut cut;
    cut.work = Cut::Work::kPrefill;
    cut.rows = 4;
    const std::vector<std::int64_t> last(tokens.begin() + 8, tokens.end());
    const auto exact = exact_outputs(program_of(spec, cut), weights,
                                     {.tokens = last, .first = 8, .before = &before}, 1);
    double largest = 0;
    for (const double logit : exact) largest = std::max(largest, std::abs(logit));
    const auto error = error_of_arithmetic(logits, exact, spec.vocabulary);
    EXPECT_GT(error.max_logit_error, 0.0) << named.name;
    EXPECT_LT(error.max_logit_error, 2e-3 * largest) << named.name;

    // A cache that holds something else is another result.
    KvCache other = before;
    for (KvCache::Layer& layer : other.layers) {
      for (std::int16_t& value : layer.values) value = static_cast<std::int16_t>(-value);
    }
    EXPECT_NE(exact_outputs(program_of(spec, cut), weights,
                            {.tokens = last, .first = 8, .before = &other}, 1),
              exact)
        << named.name;
  }
}

TEST(Exact, PartsAndSplitProgramsAreRefused) {
  const ModelSpec spec = odd_spec();
  const TestModel model = synthetic_model(spec);
  const auto weights = exact_weights(*model.weights);
  const std::vector<std::int64_t> tokens = {1};
  Cut cut = decode_of(4);
  EXPECT_THROW(exact_logits(program_of(spec, cut, 2), weights, tokens, 1), Error);
  cut.part = Cut::Part::kHead;
  EXPECT_THROW(exact_logits(program_of(spec, cut), weights, tokens, 1), Error);
  const std::vector<std::int64_t> outside = {98};
  EXPECT_THROW(exact_logits(program_of(spec, decode_of(4)), weights, outside, 1), Error);
}

TEST(ErrorOfArithmetic, IsZeroForEqualLogitsAndCountsWhatDiffers) {
  const std::vector<float> logits = {1, 2, 3, 0, 5, 1};
  std::vector<double> exact(logits.begin(), logits.end());
  ErrorOfArithmetic error = error_of_arithmetic(logits, exact, 3);
  EXPECT_EQ(error.kl, 0.0);
  EXPECT_EQ(error.max_logit_error, 0.0);
  EXPECT_EQ(error.top1, 1.0);

  exact = {0, 0, 0, 0, std::log(2.0), 0};
  const std::vector<float> uniform(6, 0.0f);
  error = error_of_arithmetic(uniform, exact, 3);
  // Row 2: p = (1/4, 1/2, 1/4) against thirds; row 1 has none.
  const double kl = 0.5 * std::log(0.75) + 0.5 * std::log(1.5);
  EXPECT_NEAR(error.kl, kl / 2, 1e-15);
  EXPECT_NEAR(error.max_logit_error, std::log(2.0), 1e-15);
  EXPECT_EQ(error.top1, 0.5);
}

TEST(LargestDifference, IsOverAllElements) {
  const std::vector<float> outputs = {1, -2, 4};
  EXPECT_EQ(largest_difference(outputs, std::vector<double>{1, 1, 5}), 3.0);
  EXPECT_EQ(largest_difference(outputs, std::vector<double>{1, -2, 4}), 0.0);
}

TEST(ErrorOfArithmetic, AShiftOfAllLogitsIsNoDivergence) {
  const std::vector<float> logits = {1, 2, 4};
  const std::vector<double> exact = {101, 102, 104};
  const ErrorOfArithmetic error = error_of_arithmetic(logits, exact, 3);
  EXPECT_NEAR(error.kl, 0.0, 1e-14);
  EXPECT_EQ(error.max_logit_error, 100.0);
}

}  // namespace
}  // namespace logos::reference
