#include "sim/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "sim/operation_order.h"

namespace logos {
namespace {

/// One operation's result for one row, with memory of its own.
struct Seen {
  std::string name;
  std::int64_t layer = 0;
  int line = 0;
  std::int64_t row = 0;
  std::vector<std::int16_t> values;
  std::vector<std::int8_t> exponents;
};

/// A run of two rows over one layer and the head, as a machine would show it.
std::vector<Seen> example() {
  std::vector<Seen> seen;
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto v = static_cast<std::int16_t>(100 * row);
    seen.push_back({"embedding", 0, 9, row, {v, 1, 2, 3}, {}});
    seen.push_back({"q", 1, 3, row, {v, 4, 5, 6}, {}});
    seen.push_back({"k.q16", 1, 5, row, {v, 7, 8, 9}, {-3, -4}});
    seen.push_back({"final_norm", 0, 7, row, {v, 2, 2, 2}, {}});
  }
  return seen;
}

const std::vector<std::string> kLines = {"one",   "two",     "    three.", "four", "    five.",
                                         "seven", "  eight", "nine",       "ten"};

ObservedRun run_of(std::vector<Seen> seen) {
  return [seen = std::move(seen)](Observer& observer) {
    for (const Seen& s : seen) {
      observer.observe({.name = s.name,
                        .layer = s.layer,
                        .line = s.line,
                        .row = s.row,
                        .position = s.row + 1,
                        .type = ElementType::kI16,
                        .values = std::as_bytes(std::span(s.values)),
                        .exponents = s.exponents});
    }
  };
}

std::optional<Divergence> divergence_of(const std::vector<Seen>& got) {
  return first_divergence(run_of(example()), run_of(got), kLines);
}

/// Where `name` of `row` stands in the example.
std::size_t at(const std::vector<Seen>& seen, std::string_view name, std::int64_t row) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].name == name && seen[i].row == row) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(FirstDivergence, EqualRunsHaveNone) { EXPECT_FALSE(divergence_of(example())); }

TEST(FirstDivergence, TheOrderOfObservationDoesNotMatter) {
  auto got = example();
  std::reverse(got.begin(), got.end());
  EXPECT_FALSE(divergence_of(got));
}

TEST(FirstDivergence, NamesOperationLineRowColumnAndBothPatterns) {
  auto got = example();
  got[at(got, "q", 1)].values[2] = -1;
  const auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->layer, 1);
  EXPECT_EQ(d->line, 3);
  EXPECT_EQ(d->name, "q");
  EXPECT_EQ(d->text, "three.");
  EXPECT_EQ(d->row, 1);
  EXPECT_EQ(d->column, 2);
  EXPECT_EQ(d->expected, "0005");
  EXPECT_EQ(d->got, "FFFF");
}

TEST(FirstDivergence, TheFirstInProgramOrderWinsOverTheFirstRowAndTheFirstSeen) {
  auto got = example();
  got[at(got, "final_norm", 0)].values[0] = 77;
  got[at(got, "k.q16", 0)].values[0] = 77;
  got[at(got, "q", 1)].values[3] = 77;
  const auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_EQ(d->row, 1);
  EXPECT_EQ(d->column, 3);
}

TEST(FirstDivergence, AnExponentComesBeforeTheValuesOfItsBlock) {
  auto got = example();
  auto& block = got[at(got, "k.q16", 1)];
  block.exponents[1] = 5;
  block.values[2] = 77;
  block.values[3] = 77;
  auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->column, 2);
  EXPECT_EQ(d->expected, "e=-4");
  EXPECT_EQ(d->got, "e=5");

  block.values[1] = 77;  // of the block before
  d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->column, 1);
  EXPECT_EQ(d->expected, "0007");
}

TEST(FirstDivergence, AMissingOperationIsOne) {
  auto got = example();
  std::erase_if(got, [](const Seen& s) { return s.name == "q"; });
  auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_EQ(d->line, 3);
  EXPECT_EQ(d->got, "nothing");

  d = first_divergence(run_of(got), run_of(example()), kLines);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_EQ(d->line, 3);
  EXPECT_EQ(d->expected, "nothing");
}

TEST(FirstDivergence, AMissingLastOperationOrRowIsOne) {
  for (const bool whole : {true, false}) {
    auto got = example();
    std::erase_if(got,
                  [&](const Seen& s) { return s.name == "final_norm" && (whole || s.row == 1); });
    const auto d = divergence_of(got);
    ASSERT_TRUE(d);
    EXPECT_EQ(d->name, "final_norm");
    EXPECT_EQ(d->row, whole ? 0 : 1);
    EXPECT_EQ(d->got, "nothing");
  }
}

TEST(FirstDivergence, ARowSeenTwiceIsOne) {
  auto got = example();
  got.push_back(got[at(got, "q", 0)]);
  const auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_THAT(d->got, ::testing::HasSubstr("seen 2 times"));
}

TEST(FirstDivergence, AnotherSizeIsOne) {
  auto got = example();
  got[at(got, "q", 0)].values.push_back(0);
  const auto d = divergence_of(got);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_THAT(d->expected, ::testing::HasSubstr("4 i16 values"));
  EXPECT_THAT(d->got, ::testing::HasSubstr("5 i16 values"));
}

TEST(FirstDivergence, WhatTheSecondRunDoesNotShowAgainIsReportedByDigest) {
  int runs = 0;
  const ObservedRun unsteady = [&runs](Observer& observer) {
    auto seen = example();
    if (runs++ == 0) seen[at(seen, "q", 0)].values[0] = 77;
    run_of(seen)(observer);
  };
  const auto d = first_divergence(run_of(example()), unsteady, kLines);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "q");
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(d->expected, ::testing::StartsWith("sha256="));
  EXPECT_NE(d->expected, d->got);
}

TEST(FirstDivergence, RunsEachMachineOnceWhereTheyAgree) {
  int runs = 0;
  const ObservedRun counted = [&runs](Observer& observer) {
    ++runs;
    run_of(example())(observer);
  };
  EXPECT_FALSE(first_divergence(counted, counted, kLines));
  EXPECT_EQ(runs, 2);
}

std::vector<LineDigest> digests_of(const std::vector<Seen>& seen) {
  LineDigests digests;
  run_of(seen)(digests);
  return digests.digests();
}

TEST(LineDigests, StandInProgramOrderWithLayerAndLine) {
  const auto digests = digests_of(example());
  ASSERT_EQ(digests.size(), 4u);
  const std::vector<std::string> names = {"embedding", "q", "k.q16", "final_norm"};
  const std::vector<std::int64_t> layers = {0, 1, 1, 0};
  const std::vector<int> lines = {9, 3, 5, 7};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(digests[i].name, names[i]);
    EXPECT_EQ(digests[i].layer, layers[i]);
    EXPECT_EQ(digests[i].line, lines[i]);
    EXPECT_EQ(digests[i].sha256.size(), 64u);
  }
}

TEST(LineDigests, EveryRowValueAndExponentCounts) {
  const auto base = digests_of(example());
  auto swapped = example();  // the rows of q change places
  std::swap(swapped[at(swapped, "q", 0)].values, swapped[at(swapped, "q", 1)].values);
  EXPECT_NE(digests_of(swapped)[1].sha256, base[1].sha256);
  auto other = example();
  other[at(other, "k.q16", 1)].exponents[0] = 0;
  EXPECT_NE(digests_of(other)[2].sha256, base[2].sha256);
  EXPECT_EQ(digests_of(other)[1].sha256, base[1].sha256);
}

Result result_of(std::vector<float> outputs) {
  return {.rows = 1,
          .columns = 2,
          .outputs = std::move(outputs),
          .fault = {},
          .timing = Timing(TimeClass::kModelled, 1)};
}

TEST(SameOutputs, ComparesBitsNotValues) {
  EXPECT_TRUE(same_outputs(result_of({1, 2}), result_of({1, 2})));
  EXPECT_FALSE(same_outputs(result_of({1, 2}), result_of({1, 3})));
  EXPECT_FALSE(same_outputs(result_of({0.0F, 2}), result_of({-0.0F, 2})));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(same_outputs(result_of({nan, 2}), result_of({nan, 2})));
  const auto other_nan = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nan) | 1U);
  EXPECT_FALSE(same_outputs(result_of({nan, 2}), result_of({other_nan, 2})));
}

TEST(SameOutputs, ComparesShapesAndTheFirstFault) {
  Result turned = result_of({1, 2});
  turned.rows = 2;
  turned.columns = 1;
  EXPECT_FALSE(same_outputs(result_of({1, 2}), turned));
  Result faulty = result_of({1, 2});
  faulty.fault = FaultSite{2, 30};
  EXPECT_FALSE(same_outputs(result_of({1, 2}), faulty));
  Result elsewhere = faulty;
  elsewhere.fault->layer = 3;
  EXPECT_FALSE(same_outputs(faulty, elsewhere));
  EXPECT_TRUE(same_outputs(faulty, faulty));
}

}  // namespace
}  // namespace logos
