// Every kind of fault of every unit, from power-up on and from later on: some rung fails, and its
// message names the broken unit before all others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "tests/rtl/ladder_board.h"

namespace logos::d5005 {
namespace {

constexpr std::uint64_t kCycles[] = {0, 60'000, 200'000};  ///< in rungs 1, 3 and 4

/// The unit's word that a message holds first; "" where it holds none.
std::string unit_named_first(std::string_view message) {
  std::size_t first = std::string_view::npos;
  std::string unit;
  for (const std::string_view word : {"engine", "host", "bank 0", "bank 1", "bank 2", "bank 3"}) {
    const std::size_t at = message.find(word);
    if (at >= first) continue;
    first = at;
    unit = word;
  }
  return unit;
}

class EveryFault : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(EveryFault, IsNamedByTheRungThatMeetsIt) {
  const auto [kind, time] = GetParam();
  const FaultKind& fault = fault_kinds()[kind];
  // One bank a climb; over kinds and cycles each has its turn.
  const std::size_t bank = (kind + time) % kBanks;
  const bool of_bank = fault.unit == "bank";
  const auto unit = of_bank ? fmt::format("bank{}", bank) : std::string(fault.unit);
  const auto word = of_bank ? fmt::format("bank {}", bank) : std::string(fault.unit);
  const auto text = fmt::format("{}:{}@{}", unit, fault.kind, kCycles[time]);
  const auto reports = climb_with(text, unit_answers_alone());
  const int failed = failed_rung(reports);
  ASSERT_GE(failed, 1) << text;
  ASSERT_LE(failed, 6) << text << ": there are no answers for rung 7";
  const RungReport& report = reports[static_cast<std::size_t>(failed) - 1];
  EXPECT_EQ(unit_named_first(report.message), word) << text << ": " << report.message;
}

INSTANTIATE_TEST_SUITE_P(Faults, EveryFault,
                         testing::Combine(testing::Range<std::size_t>(0, fault_kinds().size()),
                                          testing::Range<std::size_t>(0, std::size(kCycles))),
                         [](const auto& info) {
                           const FaultKind& fault = fault_kinds()[std::get<0>(info.param)];
                           auto name = fmt::format("{}_{}_{}", fault.unit, fault.kind,
                                                   kCycles[std::get<1>(info.param)]);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace logos::d5005
