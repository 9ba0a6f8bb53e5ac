#include "sim/ddr4/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "program/error.h"
#include "sim/ddr4/address_map.h"
#include "sim/ddr4/streams.h"
#include "sim/sourced_section.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::ddr4 {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kBoard = LOGOS_SOURCE_DIR "/configs/boards/d5005.json";

json shipped_section() { return json::parse(std::ifstream(kBoard))["ddr4"]; }

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string message_of(const json& section) {
  return message_of([&] { read_parameters(section, "ddr4"); });
}

TEST(Config, ReadsTheShippedBoard) {
  const Parameters p = read_board_channel(kBoard);
  EXPECT_EQ(p.cl, 21);
  EXPECT_EQ(p.cwl, 16);
  EXPECT_EQ(p.ranks, 1);
  EXPECT_EQ(p.bytes(), std::uint64_t{8} << 30);
  EXPECT_EQ(p.response_order, ResponseOrder::kInOrder);
  // CS-R-B-C-BG: groups in bits 7:6, columns 14:8, banks 16:15, rows from 17.
  const AddressMap map(p, "ddr4");
  EXPECT_EQ(map.locate(3U << 6U).group, 3);
  EXPECT_EQ(map.locate(127U << 8U).column, 127U);
  EXPECT_EQ(map.locate(3U << 15U).bank, 3);
  EXPECT_EQ(map.locate(std::uint64_t{65535} << 17U).row, 65535U);
}

TEST(Config, EveryKeyIsNeededAndChecked) {
  const json shipped = shipped_section();
  for (const auto& [key, entry] : shipped.items()) {
    json section = shipped_section();
    section.erase(key);
    EXPECT_THAT(message_of(section), AllOf(HasSubstr("ddr4." + key), HasSubstr("missing")));
    section = shipped_section();
    section[key]["value"] = json::array();
    EXPECT_THAT(message_of(section), AllOf(HasSubstr("ddr4." + key), HasSubstr("wrong type")));
    section = shipped_section();
    section[key].erase("source");
    EXPECT_THAT(message_of(section), AllOf(HasSubstr("ddr4." + key), HasSubstr("source")));
    section = shipped_section();
    section[key]["value"] = entry["value"].is_string() ? json("no such word") : json(-1);
    EXPECT_THAT(message_of(section), HasSubstr("ddr4." + key));
  }
}

TEST(Config, RefusesUnknownKeys) {
  json section = shipped_section();
  section["t_rdc"] = {{"value", 17}, {"source", "a slip of the hand"}};
  EXPECT_THAT(message_of(section), AllOf(HasSubstr("ddr4.t_rdc"), HasSubstr("unknown key")));
}

TEST(Config, RefusesNumbersThatDoNotFit) {
  for (const char* value :
       {"9223372036854775808", "-9223372036854775808", "1e300", "4.5", "null", "true", "\"17\""}) {
    json section = shipped_section();
    section["t_rcd"]["value"] = json::parse(value);
    EXPECT_THAT(message_of(section), HasSubstr("ddr4.t_rcd")) << value;
  }
  json section = shipped_section();
  section["memory_clock_mhz"]["value"] = 0;
  EXPECT_THAT(message_of(section), HasSubstr("ddr4.memory_clock_mhz"));
}

TEST(Config, RefusesWhatTheModelCannotHonour) {
  const auto refused = [](const char* key, int value) {
    json section = shipped_section();
    section[key]["value"] = value;
    EXPECT_THAT(message_of(section), HasSubstr(std::string("ddr4.") + key)) << value;
  };
  refused("ranks", 3);
  refused("ranks", 4);
  refused("bank_groups", 0);
  refused("rows", 1000);
  refused("columns", 4);
  refused("data_bits", 72);
  refused("burst_length", 4);
  refused("t_ccd_s", 3);
  refused("t_ccd_l", 0);
  refused("t_rfc", 0);
  refused("t_refi", 100);
  refused("write_high", 41);
  refused("write_low", 32);
  refused("refresh_postpone", 9);
  refused("in_flight", 0);
}

TEST(Config, RefusesOrdersThatAreNone) {
  for (const char* order : {"", "rorabachcob", "rorabachcobgx", "rorabachcoro", "rorabachcoxy",
                            "RORABACHCOBG", "rorabachcobgbg"}) {
    json section = shipped_section();
    section["address_order"]["value"] = order;
    EXPECT_THAT(message_of(section), HasSubstr("ddr4.address_order")) << order;
  }
}

TEST(Config, SetsAKeyFromTheCommandLine) {
  json section = shipped_section();
  set_value(section, "cl", "17", "ddr4");
  set_value(section, "address_order", "rochrababgco", "ddr4");
  const Parameters p = read_parameters(section, "ddr4");
  EXPECT_EQ(p.cl, 17);
  EXPECT_EQ(p.address_order, "rochrababgco");
  EXPECT_THAT(message_of([&] { set_value(section, "lc", "17", "ddr4"); }), HasSubstr("got lc"));
  set_value(section, "cl", "seventeen", "ddr4");
  EXPECT_THAT(message_of(section), HasSubstr("ddr4.cl"));
}

TEST(Config, RefusesFilesThatAreNoBoards) {
  const TemporaryFolder folder;
  const auto path = folder / "board.json";
  const auto message = [&](const std::string& text) {
    std::ofstream(path) << text;
    std::string result = message_of([&] { read_board_channel(path); });
    std::filesystem::remove(path);
    return result;
  };
  EXPECT_THAT(message(""), HasSubstr("not JSON"));
  const std::string broken = message(R"({"ddr4": {"cl": x}})");
  EXPECT_THAT(broken, HasSubstr(path.string() + ": cl: not JSON here or just after: parse error"));
  EXPECT_THAT(broken, Not(HasSubstr("json.exception")));
  EXPECT_THAT(message(std::string("{}\0{}", 5)), HasSubstr("a zero byte"));
  EXPECT_THAT(message("[]"), HasSubstr("want a JSON object"));
  EXPECT_THAT(message("{}"), HasSubstr("ddr4"));
  EXPECT_THAT(message(R"({"ddr4": 1})"), HasSubstr("not an object"));
  EXPECT_THAT(message(R"({"ddr4": {"cl": 1, "cl": 2}})"), HasSubstr("cl: the key stands twice"));
  EXPECT_THAT(message_of([&] { read_board_channel(path); }),
              HasSubstr("cannot be opened: No such file"));
}

TEST(AddressMap, GivesEveryLineAPlaceOfItsOwn) {
  for (const char* order : {"rorabachcobg", "rochrababgco", "rochracobabg", "chrababgcoro",
                            "chrarobacobg", "cobgbarochra"}) {
    Parameters p = dramsim3_parameters(order, 2);
    p.rows = 16;
    p.columns = 64;
    const AddressMap map(p, "ddr4");
    ASSERT_EQ(map.bytes(), p.bytes());
    std::vector<bool> seen(p.bytes() / kLineBytes);
    for (std::uint64_t address = 0; address < p.bytes(); address += kLineBytes) {
      const Location at = map.locate(address);
      ASSERT_LT(at.bank, 32);
      ASSERT_EQ(at.group, at.bank / 4);
      ASSERT_EQ(at.rank, at.bank / 16);
      const std::size_t place = (std::size_t{at.bank} * 16 + at.row) * 8 + at.column;
      ASSERT_FALSE(seen.at(place)) << order << " " << address;
      seen[place] = true;
    }
  }
}

}  // namespace
}  // namespace logos::ddr4
