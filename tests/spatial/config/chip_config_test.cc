#include "spatial/chip_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program/error.h"
#include "program/text_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::spatial {
namespace {

using nlohmann::json;

const std::string kFolder = LOGOS_SOURCE_DIR "/configs/chips/";

json file_json(const std::string& file) {
  return json::parse(read_text_file(kFolder + file, 1 << 20));
}

/// What is said to a file of such text; "taken" where it is.
std::string said_to(const json& chip) {
  const TemporaryFolder folder;
  const std::string file = (folder / "chip.json").string();
  std::ofstream(file) << chip.dump();
  try {
    load_chip_config(file, {});
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_THAT(what, testing::StartsWith(file));
    return what.substr(std::min(what.size(), file.size()));
  }
  return "taken";
}

std::string said_to_setting(const std::vector<ChipSetting>& settings) {
  try {
    load_chip_config(kFolder + "small.json", settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

TEST(ChipConfig, ReadsTheFilesThatAreShipped) {
  for (const char* file :
       {"tiles-256.json", "small.json", "northpole-like.json", "wormhole-like.json"}) {
    const ChipConfig chip = parse_chip_config(load_chip_config(kFolder + file, {}).json);
    EXPECT_EQ(chip.name, file_json(file)["name"]);
    EXPECT_LE(chip.weight_bytes, chip.sram_bytes);
    EXPECT_EQ(chip.placement, PlacementKind::kOwn);
    EXPECT_EQ(chip.network, NetworkModel::kFlit);
  }
}

TEST(ChipConfig, HoldsTheTilesOfTheBars) {
  const ChipConfig chip = parse_chip_config(load_chip_config(kFolder + "tiles-256.json", {}).json);
  EXPECT_EQ(chip.mesh.width * chip.mesh.height, 256);
  EXPECT_EQ(chip.sram_bytes, 1536 * 1024);
  EXPECT_EQ(chip.sram_bytes_per_cycle, 128);
  EXPECT_EQ(chip.mac_rows, 8);
  EXPECT_EQ(chip.mac_columns, 32);
  EXPECT_EQ(chip.vector_lanes, 32);
  EXPECT_EQ(chip.vector_bytes, 16384);
  EXPECT_EQ(chip.link_bytes, 64);
  EXPECT_EQ(chip.mesh.router_cycles + chip.mesh.link_cycles, 5);
  EXPECT_EQ(chip.mesh.virtual_channels, 4);
  EXPECT_EQ(chip.clock_hz, 1e9);
  EXPECT_EQ(chip.operand_bytes, 16384);
  EXPECT_EQ(chip.chips, 4);
  EXPECT_EQ(chip.topology, Topology::kLine);
  EXPECT_EQ(chip.block_rows, 4);
  EXPECT_EQ(chip.streams, 2);
  EXPECT_EQ(chip.chip_link_bytes_per_second, 100e9);
  EXPECT_DOUBLE_EQ(chip.chip_link_seconds, 400e-9);
}

TEST(ChipConfig, NeedsEveryKeyAndItsSource) {
  const json whole = file_json("small.json");
  EXPECT_EQ(said_to(whole), "taken");
  for (const auto& [key, value] : whole.items()) {
    json without = whole;
    without.erase(key);
    EXPECT_THAT(said_to(without), testing::StartsWith("." + key + ": missing key")) << key;
    json null = whole;
    null[key] = nullptr;
    EXPECT_THAT(said_to(null), testing::StartsWith("." + key + ": ")) << key;
    if (key == "name") continue;
    json ill = whole;
    ill[key]["value"] = json::array();
    EXPECT_THAT(said_to(ill), testing::StartsWith("." + key + ": wrong type")) << key;
    json silent = whole;
    silent[key]["source"] = "";
    EXPECT_THAT(said_to(silent), testing::StartsWith("." + key + ": not a value with its source"))
        << key;
    if (!value["value"].is_number()) {
      ill[key]["value"] = "word";
      EXPECT_THAT(said_to(ill), testing::StartsWith("." + key + ": unknown word")) << key;
      continue;
    }
    ill[key]["value"] = -1;
    EXPECT_THAT(said_to(ill), testing::StartsWith("." + key + ": out of range")) << key;
    ill[key]["value"] = 2147483647;
    EXPECT_THAT(said_to(ill), testing::StartsWith("." + key + ": out of range")) << key;
  }
}

TEST(ChipConfig, RefusesWhatIsNoChip) {
  json chip = file_json("small.json");
  chip["colour"] = {{"value", 1}, {"source", "a test"}};
  EXPECT_EQ(said_to(chip), ".colour: unknown key");
  chip = file_json("small.json");
  chip["name"] = 5;
  EXPECT_EQ(said_to(chip), ".name: wrong type; got 5, want a string");
  EXPECT_THAT(said_to(json::array()), testing::StartsWith(": "));
  chip = file_json("small.json");
  chip["weight_fraction"]["value"] = 1.5;
  EXPECT_EQ(said_to(chip), ".weight_fraction: out of range; got 1.5, want 0.01 to 1");
  chip = file_json("small.json");
  chip["layer_tiles"]["value"] = 49;
  EXPECT_EQ(said_to(chip), ".layer_tiles: out of range; got 49, want 0 to 48");
  chip["layer_tiles"]["value"] = 48;
  chip["placement"]["value"] = "shared";
  EXPECT_EQ(said_to(chip),
            ".layer_tiles: tiles of its own where placement is shared; got 48, want 0, or "
            "placement own");
  EXPECT_THROW(parse_chip_config("{"), Error);
  EXPECT_THROW(parse_chip_config("[1]"), Error);
}

TEST(ChipConfig, TakesSettings) {
  const auto with = [](const std::vector<ChipSetting>& settings) {
    return parse_chip_config(load_chip_config(kFolder + "tiles-256.json", settings).json);
  };
  const ChipConfig chip = with({{"network", "packet"},
                                {"placement", "shared"},
                                {"topology", "ring"},
                                {"mesh_width", "8"},
                                {"clock_mhz", "750.5"},
                                {"silu_interval", "3"},
                                {"chip_link_ns", "0"}});
  EXPECT_EQ(chip.network, NetworkModel::kPacket);
  EXPECT_EQ(chip.placement, PlacementKind::kShared);
  EXPECT_EQ(chip.topology, Topology::kRing);
  EXPECT_EQ(chip.mesh.width, 8);
  EXPECT_EQ(chip.clock_hz, 750.5e6);
  EXPECT_EQ(chip.silu.interval, 3);
  EXPECT_EQ(chip.chip_link_seconds, 0);
  EXPECT_EQ(with({{"layer_tiles", "64"}}).layer_tiles, 64);
  // Settings are looked at together.
  const ChipConfig small =
      with({{"layer_tiles", "300"}, {"mesh_width", "32"}, {"sram_bytes", "65536"}});
  EXPECT_EQ(small.layer_tiles, 300);
  EXPECT_EQ(small.weight_bytes, 60293);  // 0.92 of 65536
}

TEST(ChipConfig, RefusesSettingsNamingThem) {
  const std::string unknown = said_to_setting({{"tile_count", "5"}});
  EXPECT_THAT(unknown, testing::StartsWith("--set chip.tile_count=5: unknown key; got tile_count, "
                                           "want one of add_interval, add_latency, "));
  EXPECT_THAT(unknown, testing::HasSubstr(", mesh_width, "));
  EXPECT_EQ(said_to_setting({{"name", "x"}}), "--set chip.name=x: cannot be set");
  EXPECT_EQ(said_to_setting({{"network", "phone"}}),
            "--set chip.network: unknown word; got phone, want flit or packet");
  EXPECT_EQ(said_to_setting({{"mesh_width", "0"}}),
            "--set chip.mesh_width: out of range; got 0, want 1 to 256");
  EXPECT_EQ(said_to_setting({{"mesh_width", "2.5"}}),
            "--set chip.mesh_width: wrong type; got 2.5, want an integer");
  EXPECT_EQ(said_to_setting({{"mesh_width", "wide"}}),
            "--set chip.mesh_width: wrong type; got \"wide\", want an integer");
}

TEST(ChipConfig, IsAnotherConfigurationWithAnotherNumber) {
  const LaneConfig plain = load_chip_config(kFolder + "small.json", {});
  const std::vector<ChipSetting> settings = {{"mesh_width", "7"}};
  EXPECT_NE(load_chip_config(kFolder + "small.json", settings).sha256(), plain.sha256());
  EXPECT_EQ(load_chip_config(kFolder + "small.json", {}).sha256(), plain.sha256());
}

}  // namespace
}  // namespace logos::spatial
