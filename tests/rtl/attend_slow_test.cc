#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>

#include "tests/rtl/attend_check.h"

namespace logos {
namespace {

using d5005::AttendStop;

/// LOGOS_SEED chooses other shapes.
std::uint32_t first_seed() {
  const char* seed = std::getenv("LOGOS_SEED");
  return seed == nullptr ? 1U : static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10));
}

AttendShape any_shape(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  AttendShape shape;
  shape.head_columns = below(3) == 0 ? 2 + 2 * below(128) : 8 << below(6);
  shape.group = 1 + below(16);
  shape.key_heads = 1 + below(4);
  shape.positions.resize(static_cast<std::size_t>(1 + below(8)));
  const std::int64_t most = below(2) == 0 ? 10 : 300;
  for (auto& position : shape.positions) position = below(most);
  if (below(2) == 0) shape.window = 1 + below(most);
  if (below(2) == 0) {
    shape.missing_front = below(shape.group);
    if (shape.key_heads > 1) shape.missing_back = below(shape.group);
  }
  // A head's first column need not begin a slice where its columns fill none.
  shape.first = below(32);
  shape.one_cache = below(2) == 0;
  if (below(4) == 0) shape.stop = below(2) == 0 ? AttendStop::kToScores : AttendStop::kToWeights;
  if (below(4) == 0) {
    shape.only_row = below(static_cast<std::int64_t>(shape.positions.size()));
  } else {
    shape.pass_row = below(9 - static_cast<std::int64_t>(shape.positions.size()));
  }
  return shape;
}

TEST(AttendUnitSlow, AttendsAnyShape) {
  AttendHarness harness(20);
  std::mt19937 random(first_seed());
  for (std::uint32_t n = 0; n < 400; ++n) {
    const std::uint32_t seed = first_seed() * 1000 + n;
    const auto stream = static_cast<unsigned>(10 + random() % 91);
    const auto write = static_cast<unsigned>(3 + random() % 98);
    harness.set_rates(n % 3 == 0 ? 100 : stream, n % 2 == 0 ? 100 : write);
    check_attend(&harness, any_shape(seed), seed);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(AttendUnitSlow, AttendsAsManyPositionsAsTheBuffersHold) {
  AttendHarness harness(21);
  std::uint32_t seed = 2100;
  for (const std::int64_t group : {1, 4, 8, 16}) {
    const std::int64_t positions = 65536 / (group < 4 ? 4 : group);
    for (const AttendStop stop : {AttendStop::kWhole, AttendStop::kToWeights}) {
      AttendShape shape;
      shape.group = group;
      shape.head_columns = 8;
      shape.key_heads = 2;
      shape.positions = {positions - 1};
      shape.stop = stop;
      check_attend(&harness, shape, ++seed);
      // Far behind in a cache, a window as wide.
      shape.positions = {positions + 12799};
      shape.window = positions;
      check_attend(&harness, shape, ++seed);
    }
  }
}

}  // namespace
}  // namespace logos
