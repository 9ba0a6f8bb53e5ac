#include "rtl/board/fault.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "program/error.h"

namespace logos::d5005 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal_of(std::string_view text) {
  BoardOptions options;
  try {
    plant_fault(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

TEST(Fault, IsPlantedWhereItsNameSays) {
  BoardOptions options;
  plant_fault("bank2:silent@17", options);
  plant_fault("host:write-error@0", options);
  plant_fault("engine:reset@18446744073709551615", options);
  EXPECT_EQ(options.bank_faults[2].kind, PortFault::kSilent);
  EXPECT_EQ(options.bank_faults[2].cycle, 17U);
  EXPECT_EQ(options.bank_faults[1].kind, PortFault::kNone);
  EXPECT_EQ(options.host_fault.kind, PortFault::kWriteError);
  EXPECT_EQ(options.engine_fault.kind, PortFault::kReset);
  EXPECT_EQ(options.engine_fault.cycle, ~std::uint64_t{0});
}

TEST(Fault, OfEveryKindThatIsListedIsTaken) {
  for (const FaultKind& kind : fault_kinds()) {
    const std::string unit = kind.unit == "bank" ? "bank3" : std::string(kind.unit);
    EXPECT_EQ(refusal_of(fmt::format("{}:{}@5", unit, kind.kind)), "taken") << unit << kind.kind;
  }
}

TEST(Fault, IsRefusedWithWhatThereIs) {
  EXPECT_THAT(refusal_of("bank0"), AllOf(HasSubstr("--fault"), HasSubstr("UNIT:KIND@CYCLE")));
  EXPECT_THAT(refusal_of("bank0@3:silent"), HasSubstr("UNIT:KIND@CYCLE"));
  EXPECT_THAT(refusal_of("bank4:silent@0"),
              AllOf(HasSubstr("no such unit"), HasSubstr("bank4"), HasSubstr("host or engine")));
  EXPECT_THAT(refusal_of("bank:silent@0"), HasSubstr("no such unit"));
  EXPECT_THAT(refusal_of("host:address@0"),
              AllOf(HasSubstr("unit host"), HasSubstr("address"), HasSubstr("silent, error")));
  for (const char* text : {"bank0:flip@", "bank0:flip@-1", "bank0:flip@1x", "bank0:flip@0x10",
                           "bank0:flip@01", "bank0:flip@18446744073709551616"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("no cycle")) << text;
  }
}

TEST(Fault, IsOneAUnit) {
  BoardOptions options;
  plant_fault("bank0:flip@1", options);
  EXPECT_THROW(plant_fault("bank0:stuck@1", options), Error);
  plant_fault("bank1:stuck@1", options);
}

}  // namespace
}  // namespace logos::d5005
