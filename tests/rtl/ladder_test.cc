// The whole ladder on the simulated board, over both transports, and with faults that it must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "rtl/bringup/ladder_report.h"
#include "rtl/driver/opae_transport.h"
#include "tests/rtl/ladder_board.h"

namespace logos::d5005 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string text_of(const std::vector<RungReport>& reports) {
  std::string text;
  for (const RungReport& report : reports) {
    text += std::string(name_of(report.status)) + " " + report.name + " " + report.message + "\n";
  }
  return text;
}

TEST(Ladder, PassesOnTheSimulatedBoard) {
  const auto reports = climb_with("");
  EXPECT_EQ(failed_rung(reports), 0) << text_of(reports);
  EXPECT_TRUE(all_passed(reports));
  std::uint64_t cycle = 0;
  for (const RungReport& report : reports) {
    ASSERT_TRUE(report.first_cycle && report.last_cycle) << report.name;
    EXPECT_GE(*report.first_cycle, cycle) << report.name;
    EXPECT_GT(*report.last_cycle, *report.first_cycle) << report.name;
    cycle = *report.last_cycle;
  }
}

TEST(Ladder, PassesOverOpaeAlike) {
  OpaeTransport board(OPAE_STAND_IN);
  const auto reports = climb(board, known_answers(), ladder_settings(3), [](const RungReport&) {});
  EXPECT_EQ(failed_rung(reports), 0) << text_of(reports);
}

struct Planted {
  const char* fault;
  int rung;
  const char* unit;  ///< that the message must name
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault; }

class LadderWithAFault : public testing::TestWithParam<Planted> {};

TEST_P(LadderWithAFault, FailsAtItsRungAndNamesTheUnit) {
  const auto& [fault, rung, unit] = GetParam();
  const auto reports = climb_with(fault, unit_answers_alone());
  ASSERT_EQ(failed_rung(reports), rung) << text_of(reports);
  const RungReport& failed = reports[static_cast<std::size_t>(rung) - 1];
  EXPECT_THAT(failed.message, HasSubstr(unit));
  // Registers that are not answered, or wrongly, say nothing of cycles either.
  if (unit == std::string_view("not answered (all ones)") ||
      std::string_view(unit).starts_with("engine: registers")) {
    EXPECT_EQ(failed.cycles(), std::nullopt);
    EXPECT_THAT(table_lines(failed), HasSubstr("failed              - "));
  }
}

constexpr Planted kFaults[] = {{"engine:silent@0", 1, "engine"},
                               {"engine:flip@0", 1, "engine: register 0x000"},
                               {"engine:lost@0", 2, "engine: register"},
                               {"engine:stuck@0", 2, "engine: register"},
                               {"engine:flip@1500", 2, "engine: register"},
                               {"engine:stopped@0", 3, "engine: clock of engine"},
                               {"engine:silent@1500", 2, "not answered (all ones)"},
                               {"engine:silent@60000", 3, "not answered (all ones)"},
                               {"engine:flip@60000", 3, "engine: registers: reads are wrong now"},
                               {"engine:reset@0", 1, "engine: it was reset"},
                               {"engine:reset@60000", 3, "engine: it was reset"},
                               {"bank0:stuck@0", 4, "bank 0"},
                               {"bank1:silent@0", 4, "bank 1"},
                               {"bank2:error@0", 4, "bank 2: read error"},
                               {"bank3:write-error@0", 4, "bank 3: write error"},
                               {"bank0:flip@0", 4, "bank 0"},
                               {"bank1:lost@0", 4, "bank 1"},
                               {"bank2:address@0", 4, "bank 2: address lines"},
                               {"bank3:slow@0", 4, "bank 3: bandwidth"},
                               {"host:silent@0", 4, "host"},
                               {"host:error@0", 4, "host"},
                               {"host:write-error@0", 4, "host"},
                               {"host:flip@0", 4, "host: the link"},
                               {"host:stuck@0", 4, "host: the link"},
                               {"host:lost@0", 4, "host: the link"},
                               {"host:slow@0", 5, "host: bandwidth"},
                               {"host:flip@200000", 4, "host: the link"},
                               {"engine:flip@200000", 4, "engine: registers: reads are wrong now"},
                               {"engine:stuck@200000", 4, "engine: registers: they do not keep"},
                               {"engine:lost@200000", 4, "engine: registers: they do not keep"}};

std::string name_of_fault(const testing::TestParamInfo<Planted>& info) {
  std::string name = info.param.fault;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Faults, LadderWithAFault, testing::ValuesIn(kFaults), name_of_fault);

}  // namespace
}  // namespace logos::d5005
