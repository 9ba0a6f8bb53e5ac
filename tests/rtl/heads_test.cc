#include "tests/rtl/heads_case.h"

namespace logos {
namespace {

using d5005::HeadTarget;

TEST(HeadsUnit, GivesTheBitsOfTheReference) { heads_at(test_seed(21)); }

TEST(HeadsUnit, FollowsAProductHeadByHead) {
  HeadsHarness unit(22);
  std::mt19937 random(22);
  for (const std::uint32_t columns : {8U, 10U, 48U, 64U}) {
    for (const bool ends : {false, true}) {
      SCOPED_TRACE(testing::Message() << columns << " columns, product ends " << ends);
      HeadsCase heads_case(columns, 6, 3, random);
      heads_case.instruction.rotate = 1;
      heads_case.instruction.norm = ends ? 1 : 0;
      heads_case.instruction.target = static_cast<std::uint32_t>(HeadTarget::kQuery);
      heads_case.instruction.chain = 1;
      heads_case.instruction.need[1] = 2;
      heads_case.prepare(unit, false);
      // The counts run over: 257 instructions have ended before, 258 are needed.
      std::uint32_t written = 0;
      unit.set_product(1, 0);
      unit.run(heads_case.instruction, heads_case.pass(), -1, [&](int cycle) {
        if (cycle % 23 != 0 || written == heads_case.quads()) return;
        heads_case.put_quad(unit, written++);
        if (ends && written == heads_case.quads()) {
          unit.set_product(2, 0);
        } else {
          unit.set_product(1, ends && written + 20 > heads_case.quads() ? 0 : written);
        }
      });
      EXPECT_EQ(written, heads_case.quads());
      heads_case.check(unit);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(HeadsUnit, StartsAfreshAfterAResetInTheMiddle) {
  HeadsHarness unit(23);
  std::mt19937 random(23);
  for (const int cycles : {2, 9, 30, 60, 100, 150, 200, 250}) {
    SCOPED_TRACE(cycles);
    HeadsCase heads_case(64, 4, 3, random);
    heads_case.instruction.rotate = 1;
    heads_case.instruction.norm = 1;
    heads_case.instruction.write_back = 1;
    heads_case.instruction.target = static_cast<std::uint32_t>(HeadTarget::kKeys);
    set_random_rates(unit, random);
    heads_case.prepare(unit);
    unit.run(heads_case.instruction, heads_case.pass(), cycles);
    unit.reset();
    heads_case.prepare(unit);
    heads_case.run(unit);
    heads_case.check(unit);
  }
}

/// Cycles of a head in steady state: those that 32 heads more cost.
double cycles_a_head(HeadsHarness& unit, std::uint32_t columns, bool norm, HeadTarget target,
                     std::mt19937& random) {
  std::array<int, 2> cycles{};
  for (std::uint32_t k = 0; k < 2; ++k) {
    HeadsCase heads_case(columns, 8, 4 + 4 * k, random);
    heads_case.instruction.rotate = target != HeadTarget::kValues ? 1 : 0;
    heads_case.instruction.norm = norm ? 1 : 0;
    heads_case.instruction.target = static_cast<std::uint32_t>(target);
    heads_case.prepare(unit);
    cycles[k] = heads_case.run(unit);
    heads_case.check(unit);
  }
  return (cycles[1] - cycles[0]) / 32.0;
}

TEST(HeadsUnit, WorksOnSeveralHeadsAtOnce) {
  HeadsHarness unit(24);
  std::mt19937 random(24);
  const double query = cycles_a_head(unit, 64, false, HeadTarget::kQuery, random);
  const double key = cycles_a_head(unit, 64, false, HeadTarget::kKeys, random);
  const double value = cycles_a_head(unit, 64, false, HeadTarget::kValues, random);
  const double normed = cycles_a_head(unit, 64, true, HeadTarget::kQuery, random);
  const double wide = cycles_a_head(unit, 128, false, HeadTarget::kQuery, random);
  RecordProperty("query", testing::PrintToString(query));
  RecordProperty("key", testing::PrintToString(key));
  RecordProperty("value", testing::PrintToString(value));
  RecordProperty("normed", testing::PrintToString(normed));
  RecordProperty("wide", testing::PrintToString(wide));
  EXPECT_LE(query, 20.0);
  EXPECT_LE(key, 22.0);
  EXPECT_LE(value, 22.0);
  EXPECT_LE(normed, 80.0);
  EXPECT_LE(wide, 38.0);
}

}  // namespace
}  // namespace logos
