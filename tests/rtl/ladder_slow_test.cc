// Faults that begin in the middle of the ladder: the rung that meets them fails, and names the
// unit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/rtl/ladder_board.h"

namespace logos::d5005 {
namespace {

using ::testing::HasSubstr;

/// The ladder without a fault: where its rungs begin.
const std::vector<RungReport>& sound_ladder() {
  static const std::vector<RungReport> reports = climb_with("");
  return reports;
}

/// A cycle of a unit's clock a little after a rung has begun.
std::uint64_t begin_of(int rung, double mhz) {
  const auto cycle = sound_ladder()[static_cast<std::size_t>(rung) - 1].first_cycle.value() + 500;
  return static_cast<std::uint64_t>(static_cast<double>(cycle) * mhz / 300);
}

struct Late {
  int rung;
  const char* unit;
  const char* kind;
  double mhz;
  const char* text;
};
void PrintTo(const Late& late, std::ostream* out) { *out << late.unit << " " << late.rung; }

class LateFault : public testing::TestWithParam<Late> {};

TEST_P(LateFault, FailsTheRungThatMeetsIt) {
  const Late& late = GetParam();
  ASSERT_TRUE(all_passed(sound_ladder()));
  const auto fault = fmt::format("{}:{}@{}", late.unit, late.kind, begin_of(late.rung, late.mhz));
  const auto reports = climb_with(fault);
  ASSERT_EQ(failed_rung(reports), late.rung) << fault;
  EXPECT_THAT(reports[static_cast<std::size_t>(late.rung) - 1].message, HasSubstr(late.text));
}

constexpr Late kLate[] = {{5, "host", "flip", 250, "host"},
                          {5, "host", "lost", 250, "host"},
                          {5, "host", "stuck", 250, "host"},
                          {5, "bank1", "silent", 299.76, "bank 1"},
                          {6, "bank2", "stuck", 299.76, "bank 2"},
                          {6, "bank3", "silent", 299.76, "bank 3"},
                          {6, "engine", "reset", 300, "engine: it was reset"},
                          {7, "bank0", "error", 299.76, "bank 0: read error"},
                          {7, "host", "silent", 250, "host"},
                          {8, "bank1", "lost", 299.76, "bank 1"},
                          {8, "bank2", "flip", 299.76, "bank 2"},
                          {9, "bank3", "silent", 299.76, "bank 3"},
                          {10, "bank0", "write-error", 299.76, "bank 0: write error"},
                          {7, "bank2", "address", 299.76, "bank 2: address lines"},
                          {10, "bank3", "slow", 299.76, "bank 3: bandwidth"},
                          {10, "host", "flip", 250, "host: the link"},
                          {10, "host", "slow", 250, "host: bandwidth"},
                          {10, "engine", "flip", 300, "engine: registers: reads are wrong now"},
                          {10, "engine", "lost", 300, "engine: registers: they do not keep"},
                          {10, "engine", "reset", 300, "engine: it was reset"},
                          {10, "engine", "silent", 300, "not answered (all ones)"}};
INSTANTIATE_TEST_SUITE_P(Rungs, LateFault, testing::ValuesIn(kLate), [](const auto& info) {
  return fmt::format(
      "{}_{}_{}", info.param.rung, info.param.unit,
      info.param.kind == std::string("write-error") ? "write_error" : info.param.kind);
});

}  // namespace
}  // namespace logos::d5005
