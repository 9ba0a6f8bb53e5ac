#include "sim/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two layers of a model of 8 columns, 2 key heads of 4 and 10 words.
Program program_of(std::int64_t rows, bool chunk, std::optional<std::int64_t> context) {
  Program program;
  program.rows = rows;
  program.is_chunk = chunk;
  program.columns = 8;
  program.vocabulary = 10;
  program.context = context;
  program.tokens.assign(static_cast<std::size_t>(rows), 1);
  program.positions.assign(static_cast<std::size_t>(rows), 1);
  for (std::int64_t layer = 1; layer <= 2; ++layer) {
    for (const bool keys : {true, false}) {
      Cache cache;
      cache.name = keys ? "keys" : "values";
      cache.layer = layer;
      cache.keys = keys;
      cache.positions = context;
      cache.heads = 2;
      cache.head_columns = 4;
      cache.one_for_each_row = !chunk && rows > 1;
      program.caches.push_back(cache);
    }
  }
  program.operations.emplace_back().word = Word::kEmbedded;
  return program;
}

Inputs fitting(const Program& program, std::int64_t capacity) {
  Inputs inputs;
  inputs.tokens.assign(program.tokens.size(), 10);
  for (std::int64_t row = 0; row < program.rows; ++row) {
    inputs.positions.push_back(program.is_chunk ? capacity - program.rows + 1 + row : capacity);
  }
  const bool each = program.caches.front().one_for_each_row;
  inputs.caches.assign(each ? static_cast<std::size_t>(program.rows) : 1,
                       KvCache(capacity, 2, 4, 1, 2));
  return inputs;
}

std::string refusal(const Program& program, const Inputs& inputs) {
  return error_of([&] { check_inputs(program, inputs); });
}

TEST(CheckInputs, TakesStepsChunksAndBatchesAtTheLastPosition) {
  for (const Program& program :
       {program_of(1, false, 6), program_of(4, true, std::nullopt), program_of(3, false, 6)}) {
    EXPECT_EQ(refusal(program, fitting(program, 6)), "");
  }
}

TEST(CheckInputs, TokensAreCountedAndWithinTheVocabulary) {
  const Program program = program_of(4, true, std::nullopt);
  for (const std::int64_t token : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{11},
                                   std::int64_t{1} << 32, INT64_MIN, INT64_MAX}) {
    Inputs inputs = fitting(program, 6);
    inputs.tokens[2] = token;
    EXPECT_THAT(refusal(program, inputs),
                AllOf(HasSubstr("token 3 of 4"), HasSubstr("got " + std::to_string(token)),
                      HasSubstr("want 1 to 10")));
  }
  Inputs inputs = fitting(program, 6);
  inputs.tokens.pop_back();
  EXPECT_THAT(refusal(program, inputs), AllOf(HasSubstr("tokens"), HasSubstr("got 3, want 4")));
}

TEST(CheckInputs, PositionsCountFromOneAndStayInTheCutsCache) {
  const Program program = program_of(3, false, 6);
  for (const std::int64_t position : {std::int64_t{0}, std::int64_t{-5}, INT64_MIN}) {
    Inputs inputs = fitting(program, 6);
    inputs.positions[1] = position;
    EXPECT_THAT(refusal(program, inputs), HasSubstr("position 2 of 3: positions count from 1"));
  }
  Inputs inputs = fitting(program, 6);
  inputs.positions[2] = 7;
  EXPECT_THAT(refusal(program, inputs),
              HasSubstr("outside the cache of the cut; got 7, want 1 to 6"));
  inputs.positions.push_back(1);
  EXPECT_THAT(refusal(program, inputs), HasSubstr("got 4, want 3"));
}

TEST(CheckInputs, AChunksPositionsAreConsecutiveAndFitTheRunsCache) {
  const Program program = program_of(4, true, std::nullopt);
  Inputs inputs = fitting(program, 6);
  inputs.positions = {1, 2, 4, 5};
  EXPECT_THAT(refusal(program, inputs), HasSubstr("consecutive; got 4, want 3"));
  inputs.positions = {4, 5, 6, 7};
  EXPECT_THAT(refusal(program, inputs), HasSubstr("cache of the run; got 7, want 1 to 6"));
}

TEST(CheckInputs, ARowAttendsToAtMostThePositionsThatItsSumsAreExactFor) {
  Program program = program_of(4, true, std::nullopt);
  Inputs inputs = fitting(program, 6);
  inputs.positions = {33554430, 33554431, 33554432, 33554433};
  EXPECT_THAT(refusal(program, inputs),
              AllOf(HasSubstr("position 4 of 4: attention over more positions"),
                    HasSubstr("got 33554433 positions, want at most 33554432")));
  program.window = 33554432;
  EXPECT_THAT(refusal(program, inputs), HasSubstr("cache of the run"));
  inputs.positions = {INT64_MAX - 3, INT64_MAX - 2, INT64_MAX - 1, INT64_MAX};
  EXPECT_THAT(refusal(program, inputs), HasSubstr("cache of the run"));
}

TEST(CheckInputs, CachesAreAsManyAndAsLargeAsThePrograms) {
  const Program batch = program_of(3, false, 6);
  Inputs inputs = fitting(batch, 6);
  inputs.caches.pop_back();
  EXPECT_THAT(refusal(batch, inputs), AllOf(HasSubstr("caches"), HasSubstr("got 2, want 3")));

  inputs = fitting(batch, 6);
  inputs.caches[1] = KvCache(6, 1, 4, 1, 2);
  EXPECT_THAT(refusal(batch, inputs), HasSubstr("got 1 heads of 4, want 2 heads of 4"));
  inputs.caches[1] = KvCache(6, 2, 4, 2, 1);
  EXPECT_THAT(refusal(batch, inputs), HasSubstr("missing layer"));
  inputs.caches[1] = KvCache(6, 2, 4, 1, 1);
  EXPECT_THAT(refusal(batch, inputs), HasSubstr("missing layer"));
  inputs.caches[1] = KvCache(6, 2, 4, 1, 2);
  inputs.caches[1].layers[1].key_exponents.pop_back();
  EXPECT_THAT(refusal(batch, inputs), HasSubstr("do not hold the positions"));
}

TEST(CheckInputs, GivenRowsAreWantedExactlyWhereTheProgramTakesThem) {
  Program program = program_of(1, false, 6);
  Inputs inputs = fitting(program, 6);
  inputs.given.resize(8);
  EXPECT_THAT(refusal(program, inputs), HasSubstr("given values; got 8, want 0"));

  program.operations.front().word = Word::kGiven;
  program.tokens.clear();
  inputs.tokens.clear();
  EXPECT_EQ(refusal(program, inputs), "");
  inputs.given.pop_back();
  EXPECT_THAT(refusal(program, inputs), HasSubstr("given values; got 7, want 8"));
}

TEST(CheckInputs, APartWithoutCachesTakesNone) {
  Program program = program_of(2, true, std::nullopt);
  Inputs inputs = fitting(program, 6);
  program.caches.clear();
  program.positions.clear();
  inputs.positions.clear();
  inputs.caches.clear();
  EXPECT_EQ(refusal(program, inputs), "");
}

}  // namespace
}  // namespace logos
