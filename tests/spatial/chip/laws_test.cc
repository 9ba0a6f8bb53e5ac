// What may change a time and never a bit; what a run must account for.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>
#include <string>

#include "spatial/chip/critical_path.h"
#include "tests/spatial/chip/chip_case.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

TEST(ChipLaws, StallsAndSeedsChangeTimesOnly) {
  for (const char* cut : {"decode:5", "prefill:12", "batch:11x4"}) {
    const ChipCase job("llama", cut);
    const Outcome expected = job.on_reference();
    const ChipConfig chip = chip_named("small.json");
    RunReport plain;
    EXPECT_EQ(difference(expected, job.on_chips(chip, {}, &plain)), "") << cut;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      ChipRun options;
      options.seed = seed;
      options.stalls = true;
      RunReport stalled;
      EXPECT_EQ(difference(expected, job.on_chips(chip, options, &stalled)), "")
          << cut << ", seed " << seed;
      EXPECT_GT(stalled.cycles, plain.cycles);
    }
  }
}

TEST(ChipLaws, WhatUnusedMemoryHoldsDoesNotMatter) {
  for (const char* model : {"llama", "mistral"}) {
    const ChipCase job(model, "prefill:7");
    const Outcome expected = job.on_reference();
    for (const std::uint32_t fill : {0xFFFFFFFFu, 0x7F800001u, 0x5A5AA5A5u}) {
      ChipRun options;
      options.fill = fill;
      EXPECT_EQ(difference(expected, job.on_chips(chip_named("small.json"), options)), "");
    }
  }
}

/// The most memory that this process has had, in bytes (getrusage(2): kilobytes).
std::int64_t most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

TEST(ChipLaws, LargeMemoriesTakeOfTheHostOnlyWhatARunUses) {
  const ChipCase job("llama", "prefill:5");
  const ChipConfig chip = chip_named("small.json", {{"sram_bytes", "1073741824"}});
  const std::int64_t before = most_memory();
  EXPECT_EQ(difference(job.on_reference(), job.on_chips(chip)), "");
  EXPECT_LT(most_memory() - before, 500'000'000);
}

TEST(ChipLaws, OtherChipsGiveTheSameBits) {
  const std::vector<Settings> all = {
      {{"network", "packet"}},
      {{"mesh_width", "6"}, {"mesh_height", "8"}},
      {{"placement", "shared"}},
      {{"layer_tiles", "5"}},
      {{"layer_tiles", "11"}, {"head_tiles", "7"}},
      {{"block_rows", "1"}},
      {{"block_rows", "3"}, {"streams", "1"}},
      {{"streams", "3"}},
      {{"link_bytes", "64"}, {"sram_bytes_per_cycle", "7"}},
      {{"vector_bytes", "0"}, {"operand_bytes", "64"}},
      {{"topology", "ring"}},
  };
  for (const char* cut : {"decode:5", "prefill:7"}) {
    const ChipCase job("qwen3", cut);
    const Outcome expected = job.on_reference();
    for (const Settings& settings : all) {
      EXPECT_EQ(difference(expected, job.on_chips(chip_named("small.json", settings))), "")
          << cut << ", " << settings.front().first << " " << settings.front().second;
    }
  }
}

// The last block is the shortest: on one tile it overtakes the others and waits for their keys.
TEST(ChipLaws, ABlockWaitsForTheKeysOfEarlierOnes) {
  for (const char* streams : {"2", "3", "4"}) {
    const ChipConfig chip =
        chip_named("tiles-256.json", {{"layer_tiles", "1"}, {"streams", streams}});
    for (const char* cut :
         {"layer:1@prefill:5", "layer:1@prefill:7", "layer:1@prefill:10", "layer:1@batch:6x20"}) {
      const ChipCase job("kjv", cut);
      EXPECT_EQ(difference(job.on_reference(), job.on_chips(chip)), "") << cut << " " << streams;
    }
  }
}

TEST(ChipLaws, ARunAfterAnotherTakesTheSameTime) {
  const ChipCase job("kjv", "prefill:7");
  const ChipConfig chip = chip_named("small.json");
  const RunReport first = job.time(chip);
  const RunReport second = job.time(chip);
  EXPECT_EQ(first.cycles, second.cycles);
  EXPECT_EQ(first.outputs, second.outputs);
}

/// A layer's time, from its leader's full entry to its last output row, in the whole and alone.
void expect_same_cycles(const std::string& model, const std::string& cut, int layers,
                        const ChipConfig& chip) {
  const ChipCase whole(model, cut);
  const Plan plan = whole.plan(chip);
  const RunReport in_whole = whole.time(chip);
  for (int layer = 1; layer <= layers; ++layer) {
    const ChipCase alone(model, fmt::format("layer:{}@{}", layer, cut));
    const RunReport report = alone.time(chip);
    for (const StageTime& time : in_whole.stage_times) {
      if (plan.stages[static_cast<std::size_t>(time.stage)].layer != layer) continue;
      EXPECT_EQ(time.end - time.begin, report.cycles)
          << model << ", " << cut << ", layer " << layer;
    }
  }
}

/// Of a program that is not split, where its rows are one block.
TEST(ChipLaws, ALayerAloneTakesTheCyclesThatItTakesInTheWhole) {
  for (const char* network : {"packet", "flit"}) {
    SCOPED_TRACE(network);
    for (const char* placement : {"own", "shared"}) {
      const ChipConfig chip =
          chip_named("small.json", {{"network", network}, {"placement", placement}});
      expect_same_cycles("kjv", "decode:40", 3, chip);
      expect_same_cycles("qwen3", "decode:7", 2, chip);
      expect_same_cycles("qwen3", "prefill:2", 2, chip);
      expect_same_cycles("llama", "batch:2x5", 2, chip);
    }
    const ChipConfig large = chip_named("tiles-256.json", {{"network", network}});
    expect_same_cycles("kjv", "decode:40", 3, large);
    expect_same_cycles("kjv", "batch:3x9", 3, large);
  }
}

TEST(ChipLaws, TheCriticalPathAddsUpToTheRun) {
  for (const char* cut : {"decode:5", "prefill:12", "embedding@prefill:7", "head@batch:3x4"}) {
    for (const std::int64_t text_chips : {1, 2}) {
      const ChipCase job("qwen2", cut, text_chips);
      const ChipConfig chip = chip_named("small.json");
      const RunReport report = job.time(chip);
      const CriticalPath path = critical_path(job.plan(chip), report);
      EXPECT_EQ(std::accumulate(path.by_category.begin(), path.by_category.end(), Cycles{0}),
                report.cycles)
          << cut;
      Cycles lines = 0;
      for (const auto& [line, cycles] : path.by_line) lines += cycles;
      EXPECT_EQ(lines, report.cycles) << cut;
      EXPECT_GT(report.cycles, 0u);
    }
  }
}

/// Multiplications with weights, scores and values that the cut asks for.
TEST(ChipLaws, TilesMultiplyWhatTheCutAsksForAndReadItsWeightsOnceABlock) {
  const ChipCase job("llama", "decode:5");
  const ChipConfig chip = chip_named("small.json");
  const RunReport report = job.time(chip);
  std::uint64_t macs = 0;
  std::uint64_t passes = 0;
  std::uint64_t sram = 0;
  Cycles busiest = 0;
  for (const auto& tiles : report.tiles) {
    for (const TileReport& tile : tiles) {
      macs += tile.macs;
      passes += tile.passes;
      sram += tile.sram_bytes;
      busiest = std::max(busiest, tile.sram_bytes / 32);  // small.json: 32 bytes a cycle
      EXPECT_LE(tile.mac_busy, report.cycles);
      EXPECT_LE(tile.vector_busy, report.cycles);
    }
  }
  // 2 layers of 75 columns, 4 heads over 2 of 18, 100 hidden; 97 logits; 5 positions.
  const std::uint64_t layer = 75 * (72 + 36 + 36) + 72 * 75 + 3 * 75 * 100;
  EXPECT_EQ(macs, 2 * (layer + 2 * 5 * 4 * 18) + 97 * 75);
  EXPECT_GE(passes * 64, macs);  // 4 x 16 multipliers, some of them idle
  // Bytes of a row of weights: columns, a multiplier for 32 of them, a scale; down's 100 columns
  // come in chunks whose scales are read again.
  const std::uint64_t rows_of_75 = 2 * (72 + 36 + 36 + 2 * 100) + 97;
  EXPECT_GE(report.weight_bytes, rows_of_75 * (75 + 3 + 4) + 2 * 75 * (72 + 3 + 4 + 100 + 4 + 4));
  EXPECT_GT(sram, report.weight_bytes + report.kv_bytes);
  EXPECT_LE(busiest, report.cycles);
}

TEST(ChipLaws, SumsCrossTheLinksBetweenTextChipsAsTheyShould) {
  for (const std::int64_t chips : {2, 3}) {
    const ChipCase job("mistral", "layer:1@decode:5", chips);
    const ChipConfig chip = chip_named("small.json");
    const RunReport report = job.time(chip);
    std::int64_t bytes = 0;
    for (const ChipLinkLoad& load : report.chip_links) bytes += load.bytes;
    // Two exchanges of sums, each 8 bytes a column to and from whoever adds them up, and two of
    // peaks. On a line of 3 chips what goes from end to end crosses two links.
    std::int64_t expected = 0;
    for (std::int64_t from = 0; from < chips; ++from) {
      for (std::int64_t to = 0; to < chips; ++to) {
        if (from == to) continue;
        const std::int64_t portion_to = 64 * (to + 1) / chips - 64 * to / chips;
        const std::int64_t portion_from = 64 * (from + 1) / chips - 64 * from / chips;
        const std::int64_t links = std::abs(from - to);
        expected += links * (2 * 8 * (portion_to + portion_from) + 2 * 4);
      }
    }
    EXPECT_EQ(bytes, expected) << chips;
  }
}

TEST(ChipLaws, TheHostSaysWhatItGives) {
  const ChipCase job("llama", "layer:1@decode:5");
  const RunReport report = job.time(chip_named("small.json"));
  EXPECT_EQ(report.host_bytes, 16u + 18 * 4 + 75 * 4);  // heading, angles, x
}

}  // namespace
}  // namespace logos::spatial
