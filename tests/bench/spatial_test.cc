// The lane spatial from the command line: its options, its refusals, its faults, its map.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// The lane's object of a run's first cut.
json lane_of(std::vector<std::string> arguments, int status = 0) {
  for (const char* more : {"--lanes", "reference,spatial", "--format", "json"}) {
    arguments.emplace_back(more);
  }
  const Ended ended = run_bench(arguments);
  EXPECT_EQ(ended.status, status) << ended.err << ended.out;
  const json report = json::parse(ended.out, nullptr, false);
  EXPECT_FALSE(report.is_discarded()) << ended.out << ended.err;
  if (report.is_discarded()) return {};
  return report.at("cuts").at(0).at("lanes").at(1);
}

TEST(Spatial, KeepsTheNotesOfCutsApartWhereTheyDiffer) {
  // Two chips hold the whole model, one its layer.
  const Ended ended = run_bench({"--model", "qwen2.5-0.5b", "--cut", "decode:1,layer:1@decode:1",
                                 "--lanes", "cuda,spatial", "--format", "json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out).at("context").at("time_notes"),
            json({{"cuda", "modelled: uncalibrated, +-30 %"},
                  {"spatial decode:1", "simulated: 2 chips"}}));
}

TEST(Spatial, TimesAreSimulatedAndEveryCycleHasACategory) {
  const json lane = lane_of({"--cut", "prefill:24"});
  EXPECT_EQ(lane.at("agrees"), true);
  EXPECT_EQ(lane.at("time_class"), "simulated");
  std::uint64_t sum = 0;
  for (const auto& cycles : lane.at("cycles_by_category")) sum += cycles.get<std::uint64_t>();
  EXPECT_EQ(lane.at("cycles"), sum);
  EXPECT_GT(lane.at("bound").at("fraction"), 0.0);
  EXPECT_LE(lane.at("bound").at("fraction"), 1.0);
  EXPECT_GT(lane.at("chip_fraction"), 0.0);
  EXPECT_LT(lane.at("chip_fraction"), lane.at("bound").at("fraction"));
  EXPECT_GT(lane.at("interval").at("cycles"), 0);
  EXPECT_LT(lane.at("interval").at("cycles"), lane.at("cycles"));
  EXPECT_GT(lane.at("interval").at("rows_to_fill"), 0);
  EXPECT_GT(lane.at("bytes").at("sram"), 0);
  EXPECT_GT(lane.at("bytes").at("links"), 0);
}

TEST(Spatial, NoOptionOfTheMachineChangesABit) {
  const std::string plain = lane_of({"--cut", "batch:5x9"}).at("output_sha256");
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--chips", "2"},
           {"--set", "chip.network=packet"},
           {"--set", "chip.placement=shared"},
           {"--set", "chip.layer_tiles=6", "--set", "chip.block_rows=1"},
           {"--chip-config", "small"},
           {"--stalls", "7"},
           {"--fill", "0xFF"}}) {
    std::vector<std::string> arguments = {"--cut", "batch:5x9"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json lane = lane_of(arguments);
    EXPECT_EQ(lane.value("output_sha256", ""), plain) << more[1];
    EXPECT_EQ(lane.value("agrees", false), true) << more[1];
  }
}

TEST(Spatial, AMapSaysWhatEachTileHoldsAndWhereTheTimeGoes) {
  EXPECT_FALSE(lane_of({"--cut", "decode:5"}).contains("map"));
  const json lane = lane_of({"--cut", "decode:5", "--map"});
  const json& map = lane.at("map");
  EXPECT_EQ(map.at("chips").at(0).at("tiles").size(), 256);
  std::vector<std::string> names;
  std::int64_t tiles = 0;
  for (const json& stage : map.at("stages")) {
    names.push_back(stage.at("name"));
    if (stage.at("name") != "embedding") tiles += stage.at("tiles").get<std::int64_t>();
    EXPECT_GT(stage.at("block_cycles"), 0) << stage;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"embedding", "layer 1", "head"}));
  std::int64_t used = 0;
  for (const json& tile : map.at("chips").at(0).at("tiles")) {
    if (tile.at("stage") == -1) continue;
    ++used;
    EXPECT_GT(tile.at("mac_busy"), 0.0);
    EXPECT_LE(tile.at("mac_busy"), 1.0);
    EXPECT_LE(tile.at("port_busy"), 1.0);
    EXPECT_LE(tile.at("sram_fill"), 1.0);
  }
  EXPECT_EQ(used, tiles);  // the embedding is the head's table
  std::uint64_t sum = 0;
  for (const auto& cycles : map.at("cycles_by_line")) sum += cycles.get<std::uint64_t>();
  EXPECT_EQ(lane.at("cycles"), sum);

  const Ended console = run_bench({"--cut", "decode:5", "--lanes", "spatial", "--map"});
  EXPECT_THAT(console.out, AllOf(HasSubstr("chip 0 of 16 x 16 tiles"), HasSubstr("layer 1"),
                                 HasSubstr("Let gate be product(a, weight \"gate {n}\").")));
}

TEST(Spatial, AMapOfSeveralChipsSaysWhatTheirLinksCarried) {
  const json map = lane_of({"--cut", "decode:5", "--chips", "2", "--map"}).at("map");
  EXPECT_EQ(map.at("chips").size(), 2);
  ASSERT_EQ(map.at("chip_links").size(), 2);  // one each way
  for (const json& link : map.at("chip_links")) {
    EXPECT_GT(link.at("bytes"), 0);
    EXPECT_GT(link.at("busy"), 0.0);
    EXPECT_LE(link.at("busy"), 1.0);
  }
}

TEST(Spatial, WhatDoesNotFitIsRefusedWithTheRoomItNeeds) {
  EXPECT_THAT(lane_of({"--cut", "decode:9", "--chips", "2", "--set", "chip.chips=1"}, 2)
                  .value("refused", ""),
              AllOf(HasSubstr("got 1"), HasSubstr("want 2")));
  EXPECT_THAT(
      lane_of({"--cut", "decode:9", "--set", "chip.sram_bytes=4096"}, 2).value("refused", ""),
      HasSubstr("does not fit"));
}

TEST(Spatial, OptionsOfTheLaneAreRefusedByName) {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--cut", "decode:5"});
    const Ended ended = run_bench(arguments);
    EXPECT_EQ(ended.status, 2);
    return ended.err;
  };
  EXPECT_THAT(refusal({"--set", "chip.sram=1"}), HasSubstr("chip.sram"));
  EXPECT_THAT(refusal({"--set", "chip.topology=star"}), HasSubstr("want line or ring"));
  EXPECT_THAT(refusal({"--set", "chip.mesh_width=0"}), HasSubstr("chip.mesh_width"));
  EXPECT_THAT(refusal({"--chip-config", "nope"}), HasSubstr("tiles-256.json"));
  EXPECT_THAT(refusal({"--lanes", "reference", "--set", "chip.chips=2"}),
              HasSubstr("--set chip.chips: the lane spatial is not among the lanes"));
  EXPECT_THAT(refusal({"--lanes", "reference", "--map"}),
              HasSubstr("--map: the lane spatial is not among the lanes"));
  EXPECT_THAT(refusal({"--lanes", "reference", "--chip-config", "small"}),
              HasSubstr("--chip-config: the lane spatial is not among the lanes"));
  EXPECT_THAT(refusal({"--lanes", "spatial", "--fault", "tilt0:early_read@1"}),
              AllOf(HasSubstr("no such unit"), HasSubstr("tile"), HasSubstr("mesh")));
  EXPECT_THAT(refusal({"--lanes", "reference", "--fault", "tile0:early_read@1"}),
              HasSubstr("--fault: the lane spatial is not among the lanes"));
  EXPECT_THAT(refusal({"--lanes", "spatial", "--fault", "mesh0:bent@1"}),
              HasSubstr("dropped_flit"));
}

TEST(Spatial, APlantedFaultEndsTheRunAndSaysWhat) {
  for (const auto& [fault, word] : std::vector<std::pair<std::string, std::string>>{
           {"mesh0:dropped_flit@100", "waits for"},
           {"mesh0:lost_credit@100", "credits are back"},
           {"mesh0:swapped_destination@100", "packet"},
           {"tile0:early_read@100", "full"}}) {
    EXPECT_THAT(lane_of({"--cut", "decode:16", "--fault", fault}, 2).value("failed", ""),
                HasSubstr(word))
        << fault;
  }
}

TEST(Spatial, AFaultThatFindsNoChanceIsSaid) {
  for (const char* fault : {"mesh3:dropped_flit@100", "mesh0:lost_credit@99999",
                            "mesh0:swapped_destination@99999", "tile0:early_read@99999"}) {
    EXPECT_THAT(lane_of({"--cut", "decode:3", "--fault", fault}, 2).value("failed", ""),
                HasSubstr("never had a chance"))
        << fault;
  }
}

TEST(Spatial, MoreCyclesThanTheLimitAreAnErrorAndAsManyAreNone) {
  const std::uint64_t cycles = lane_of({"--cut", "decode:8"}).at("cycles");
  const auto with_limit = [&](std::uint64_t limit, int status) {
    return lane_of({"--cut", "decode:8", "--cycle-limit", std::to_string(limit)}, status);
  };
  EXPECT_EQ(with_limit(cycles, 0).at("cycles"), cycles);
  EXPECT_THAT(with_limit(cycles - 1, 2).value("failed", ""), HasSubstr("cycle limit"));
}

// A short last block may end before the first one; a text chip after the others; and what binds may
// be anything.
TEST(Spatial, NoRunBeatsTheBoundOfAWindow) {
  // 65 positions over 64 tiles: another tile has two of them for each row.
  TemporaryFolder folder;
  std::ofstream(folder / "config.json") << R"({
    "model_type": "mistral", "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 32, "num_key_value_heads": 1, "head_dim": 128, "sliding_window": 65,
    "vocab_size": 97, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
    "tie_word_embeddings": true, "max_position_embeddings": 1024})";
  const json lane = lane_of({"--model", folder.path().string(), "--weights", "synthetic:1", "--cut",
                             "layer:1@prefill:300", "--set", "chip.layer_tiles=64", "--set",
                             "chip.block_rows=64", "--set", "chip.streams=4", "--set",
                             "chip.mac_rows=1", "--set", "chip.mac_columns=1"});
  EXPECT_EQ(lane.at("bound").at("name"), "mac_array");
  EXPECT_GT(lane.at("bound").at("fraction"), 0.9);
  EXPECT_LE(lane.at("bound").at("fraction"), 1.0);
}

TEST(Spatial, FiguresOfARunAreOfOneTime) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--cut", "prefill:5"},
           {"--cut", "head@batch:5x2"},
           {"--cut", "embedding@prefill:6"},
           {"--cut", "embedding@decode:33", "--chips", "2", "--set",
            "chip.chip_link_gb_per_s=0.001"},
           {"--cut", "prefill:17", "--set", "chip.block_rows=16", "--set", "chip.mac_rows=1",
            "--set", "chip.mac_columns=1"},
           {"--cut", "embedding@prefill:6", "--set", "chip.link_bytes=8", "--set",
            "chip.mesh_width=1", "--set", "chip.mesh_height=1"}}) {
    std::vector<std::string> arguments = more;
    arguments.emplace_back("--map");
    const json lane = lane_of(arguments);
    const std::uint64_t cycles = lane.at("cycles");
    if (lane.at("bound").is_null()) {
      EXPECT_TRUE(more[1].starts_with("embedding@")) << more[1];  // one tile that copies rows
    } else {
      EXPECT_LE(lane.at("bound").at("fraction"), 1.0) << more[1];
    }
    EXPECT_GT(lane.at("interval").at("cycles"), 0) << more[1];
    EXPECT_LE(lane.at("interval").at("cycles"), cycles) << more[1];
    EXPECT_GT(lane.at("interval").at("rows_to_fill"), 0) << more[1];
    for (const json& stage : lane.at("map").at("stages")) {
      EXPECT_LE(stage.at("block_cycles"), cycles) << more[1];
    }
    for (const json& link : lane.at("map").at("chip_links")) {
      EXPECT_LE(link.at("busy"), 1.0) << more[1];
    }
  }
}

}  // namespace
}  // namespace logos::bench
