#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/rtl/attend_check.h"

namespace logos {
namespace {

using d5005::AttendStop;

TEST(AttendUnit, AttendsOnePosition) {
  AttendHarness harness(1);
  check_attend(&harness, {}, 1);
}

TEST(AttendUnit, AttendsEveryKindOfHead) {
  AttendHarness harness(2);
  std::uint32_t seed = 100;
  for (const std::int64_t columns : {8, 48, 64, 128, 6, 256}) {
    for (const std::int64_t group : {1, 2, 4, 7, 8, 16}) {
      AttendShape shape;
      shape.head_columns = columns;
      shape.group = group;
      shape.key_heads = 1 + seed % 3;
      shape.positions = {static_cast<std::int64_t>(seed * 37 % 160)};
      harness.set_rates(seed % 2 == 0 ? 100 : 60, seed % 3 == 0 ? 20 : 100);
      check_attend(&harness, shape, ++seed);
      if (HasFailure()) return;
    }
  }
}

TEST(AttendUnit, AttendsEveryEndOfABlock) {
  AttendHarness harness(3);
  for (std::int64_t position = 0; position < 300; position += position < 10 ? 1 : 23) {
    AttendShape shape;
    shape.head_columns = 8;
    shape.positions = {position};
    check_attend(&harness, shape, static_cast<std::uint32_t>(position));
  }
  for (const std::int64_t position : {127, 128, 255, 256}) {
    AttendShape shape;
    shape.positions = {position, position + 1};
    check_attend(&harness, shape, static_cast<std::uint32_t>(position));
  }
}

TEST(AttendUnit, KeepsToTheWindow) {
  AttendHarness harness(4);
  std::uint32_t seed = 300;
  for (const std::int64_t window : {1, 2, 5, 100, 128, 129, 300}) {
    AttendShape shape;
    shape.group = 1 + window % 5;
    shape.head_columns = 48;
    shape.window = window;
    shape.positions = {window - 1, 310, 255, 128};
    shape.key_heads = 2;
    check_attend(&harness, shape, ++seed);
  }
}

TEST(AttendUnit, AttendsBatchesAndChunks) {
  AttendHarness harness(5);
  harness.set_rates(80, 50);
  for (const bool one_cache : {false, true}) {
    for (const std::int64_t rows : {1, 3, 8}) {
      AttendShape shape;
      shape.head_columns = rows == 3 ? 48 : 64;
      shape.group = rows == 8 ? 2 : 7;
      shape.key_heads = 2;
      shape.one_cache = one_cache;
      shape.positions.clear();
      for (std::int64_t r = 0; r < rows; ++r) {
        shape.positions.push_back(one_cache ? 90 + r : (r * 61 + 7) % 150);
      }
      check_attend(&harness, shape, static_cast<std::uint32_t>(500 + rows));
    }
  }
}

TEST(AttendUnit, AttendsOneRowOfAPass) {
  AttendHarness harness(6);
  AttendShape shape;
  shape.positions = {33};
  shape.pass_row = 5;
  check_attend(&harness, shape, 601);
  shape.pass_row = 0;
  shape.positions = {5, 77, 12};
  shape.only_row = 1;
  shape.key_heads = 3;
  check_attend(&harness, shape, 602);
}

TEST(AttendUnit, AttendsAShareOfTheHeads) {
  AttendHarness harness(7);
  std::uint32_t seed = 700;
  for (const std::int64_t columns : {6, 8, 64, 48}) {
    for (const std::int64_t first : {0, 2, 16, 30}) {
      AttendShape shape;
      shape.head_columns = columns;
      shape.group = 3;
      shape.key_heads = 3;
      shape.missing_front = first % 3;
      shape.missing_back = 1 + columns % 2;
      shape.first = columns == 6 ? first : first / 4 * 4;
      shape.positions = {20, 21};
      check_attend(&harness, shape, ++seed);
    }
  }
}

TEST(AttendUnit, StopsForAnObserver) {
  AttendHarness harness(8);
  std::uint32_t seed = 800;
  for (const AttendStop stop : {AttendStop::kToScores, AttendStop::kToWeights}) {
    for (const std::int64_t group : {1, 4, 7, 16}) {
      AttendShape shape;
      shape.group = group;
      shape.head_columns = group == 7 ? 128 : 8;
      shape.stop = stop;
      shape.positions = {140, 3, 190};
      shape.window = group == 4 ? 50 : 0;
      shape.key_heads = 3;
      check_attend(&harness, shape, ++seed);
      shape.only_row = 0;
      shape.only_head = 1;
      check_attend(&harness, shape, ++seed);
    }
  }
  check_attend(&harness, {}, 899);
}

// The scores and weights of the pairs behind are ready long before the outputs of one are written.
TEST(AttendUnit, WaitsForSlowWrites) {
  AttendHarness harness(12);
  harness.set_rates(100, 2);
  AttendShape shape;
  shape.head_columns = 128;
  shape.key_heads = 4;
  shape.positions = {5, 0};
  check_attend(&harness, shape, 1200);
}

TEST(AttendUnit, KeepsABeatOfTheNextInstruction) {
  AttendHarness harness(10);
  AttendShape shape;
  shape.head_columns = 8;
  shape.positions = {9};
  const AttendCase first(shape, 1001);
  shape.group = 2;
  const AttendCase second(shape, 1002);
  harness.feed(first);
  harness.feed(second);
  for (const AttendCase* attend : {&first, &second}) {
    const auto before = harness.vectors;
    harness.run_fed(*attend);
    check_outputs(*attend, harness, before);
  }
  EXPECT_EQ(harness.waiting_beats(), 0U);
}

TEST(AttendUnit, StartsAnewAfterAReset) {
  AttendHarness harness(11);
  AttendShape shape;
  shape.positions = {60, 200};
  shape.key_heads = 2;
  for (std::int64_t cycles = 1; cycles < 720; cycles += 13) {
    const AttendCase attend(shape, 1100);
    harness.feed(attend);
    harness.run_fed(attend, cycles);
    harness.reset();
    check_attend(&harness, shape, static_cast<std::uint32_t>(1100 + cycles));
  }
}

TEST(AttendUnit, HidesTheExponentials) {
  AttendHarness harness(9);
  AttendShape shape;
  shape.positions = {1023};
  std::int64_t cycles[2];
  for (const std::int64_t pairs : {4, 8}) {
    shape.key_heads = pairs;
    const AttendCase attend(shape, 900);
    cycles[pairs / 8] = harness.run(attend);
  }
  const double per_group = static_cast<double>(cycles[1] - cycles[0]) / 4;
  RecordProperty("cycles_per_group", std::to_string(per_group));
  // 1,024 beats and 8 of exponents; the exponentials take as long.
  EXPECT_LE(per_group, 1024 + 24);
  EXPECT_GE(per_group, 1024);
}

}  // namespace
}  // namespace logos
