#include "spatial/lowering/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spatial/plan/plan_bytes.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

Placement placed(const std::string& model, const std::string& cut, int chips,
                 const ChipConfig& config) {
  return place(job_of(model, cut, chips).facts, config);
}

const Stage& stage_of(const Plan& plan, StageKind kind, std::int32_t layer = 0) {
  for (const Stage& stage : plan.stages) {
    if (stage.kind == kind && stage.layer == layer) return stage;
  }
  throw std::runtime_error("no such stage");
}

TEST(Placement, PutsLlama1BOnFourChips) {
  const ChipConfig config = chip_named("tiles-256.json");
  for (const char* cut : {"decode:1024", "prefill:256", "batch:8x64"}) {
    SCOPED_TRACE(cut);
    const Placement placement = placed("llama-3.2-1b", cut, 1, config);
    EXPECT_EQ(placement.layer_tiles, 48);
    EXPECT_EQ(placement.table_tiles, 189);
    EXPECT_EQ(placement.parts, 4);
    for (std::size_t n = 0; n < 16; ++n) {
      EXPECT_EQ(placement.layers[n].part, static_cast<std::int32_t>(n / 5)) << n;
    }
    EXPECT_EQ(placement.head.part, 3);
    EXPECT_EQ(placement.embedding.part, 3);
    // A decode step's rows leave the tiles room for whole blocks.
    EXPECT_EQ(placement.blocks.slots, placement.blocks.rows == 1 ? 1 : 2);
  }
  EXPECT_EQ(placed("llama-3.2-1b", "decode:1024", 1, config).capacity, 1024);
}

TEST(Placement, PutsHalvesAndQuartersOfLlama1BOnFourChipsToo) {
  const ChipConfig config = chip_named("tiles-256.json");
  const Placement halves = placed("llama-3.2-1b", "decode:1024", 2, config);
  EXPECT_EQ(halves.layer_tiles, 24);
  EXPECT_EQ(halves.parts, 2);
  const Placement quarters = placed("llama-3.2-1b", "decode:1024", 4, config);
  EXPECT_EQ(quarters.layer_tiles, 12);
  EXPECT_EQ(quarters.parts, 1);
}

TEST(Placement, OfAPartIsThatOfTheWhole) {
  for (const Settings& settings : {Settings{}, Settings{{"placement", "shared"}}}) {
    for (const char* model : {"kjv", "llama", "qwen2", "qwen3"}) {
      for (const int chips : {1, 2}) {
        for (const char* work : {"decode:5", "prefill:12", "batch:11x4"}) {
          SCOPED_TRACE(testing::Message() << model << ' ' << chips << ' ' << work);
          const ChipConfig config = chip_named("small.json", settings);
          const Plan whole = lowered(model, work, chips, config);
          const auto same = [&](const std::string& part, StageKind kind, std::int32_t layer) {
            const Plan alone = lowered(model, part + "@" + work, chips, config);
            const Stage& a = stage_of(whole, kind, layer);
            const Stage& b = stage_of(alone, kind, layer);
            EXPECT_EQ(std::tie(a.chip, a.x, a.y, a.width, a.height, a.tiles, a.leader),
                      std::tie(b.chip, b.x, b.y, b.width, b.height, b.tiles, b.leader))
                << part;
            EXPECT_EQ(whole.block_rows, alone.block_rows);
            EXPECT_EQ(whole.slots, alone.slots);
          };
          same("layer:1", StageKind::kLayer, 1);
          same("layer:2", StageKind::kLayer, 2);
          same("head", StageKind::kHead, 0);
          same("embedding", StageKind::kEmbedding, 0);
        }
      }
    }
  }
}

TEST(Placement, OfAPartNeedsNoChipsForTheRest) {
  // 32 layers of 168 tiles, and a head that no chip holds.
  const ChipConfig config = chip_named("tiles-256.json");
  const Plan plan = lowered("llama-3.1-8b", "layer:32@decode:1024", 1, config);
  EXPECT_EQ(plan.stages.front().tiles, 168);
  EXPECT_LT(plan.stages.front().chip, config.chips);
  const Settings shared = {{"placement", "shared"}};
  EXPECT_EQ(lowered("llama-3.1-8b", "layer:32@decode:1024", 1, chip_named("tiles-256.json", shared))
                .stages.front()
                .tiles,
            256);
  // A head for which a layer is too large.
  const Settings tiny = {{"mesh_width", "2"}, {"mesh_height", "2"}};
  EXPECT_EQ(lowered("kjv", "head@decode:5", 1, chip_named("small.json", tiny)).stages.size(), 1U);
}

TEST(Placement, HoldsATiedTableOnce) {
  const ChipConfig config = chip_named("tiles-256.json");
  const Plan tied = lowered("qwen2", "decode:5", 1, config);
  const Stage& embedding = stage_of(tied, StageKind::kEmbedding);
  const Stage& head = stage_of(tied, StageKind::kHead);
  EXPECT_EQ(embedding.held_bytes, 0);
  EXPECT_EQ(std::tie(embedding.chip, embedding.x, embedding.y, embedding.tiles),
            std::tie(head.chip, head.x, head.y, head.tiles));
  EXPECT_EQ(embedding.base, head.base + head.used_bytes);
  EXPECT_EQ(embedding.partitions.front().boundary, head.partitions.front().boundary);
  const Plan untied = lowered("llama", "decode:5", 1, config);
  const Stage& table = stage_of(untied, StageKind::kEmbedding);
  EXPECT_GT(table.held_bytes, 0);
  EXPECT_NE(std::tie(table.chip, table.x, table.y),
            std::tie(stage_of(untied, StageKind::kHead).chip, stage_of(untied, StageKind::kHead).x,
                     stage_of(untied, StageKind::kHead).y));
}

TEST(Placement, MakesBlocksSmallerBeforeTilesMore) {
  ChipConfig config = chip_named("small.json");
  const auto at = [&](std::int64_t sram) {
    config.sram_bytes = sram;
    return placed("kjv", "prefill:12", 1, config);
  };
  const std::int32_t tiles = at(131072).layer_tiles;
  std::vector<std::pair<int, int>> blocks;
  std::int64_t sram = 131072;
  for (; at(sram).layer_tiles == tiles; sram -= 512) {
    const Placement placement = at(sram);
    const std::pair now = {placement.blocks.rows, placement.blocks.slots};
    if (blocks.empty() || blocks.back() != now) blocks.push_back(now);
  }
  EXPECT_THAT(blocks, testing::ElementsAre(std::pair(4, 2), std::pair(3, 2), std::pair(2, 2),
                                           std::pair(1, 2), std::pair(1, 1)));
  EXPECT_GT(at(sram).layer_tiles, tiles);
}

TEST(Placement, GivesAChunkTheRoomThatIsLeft) {
  const ChipConfig config = chip_named("small.json");
  const Job job = job_of("kjv", "prefill:12");
  const Placement placement = place(job.facts, config);
  EXPECT_GT(placement.capacity, 12);
  const Sizes sizes(job.facts, config);
  const auto used = [&](std::int64_t capacity) {
    return sizes.layer(placement.layer_tiles, placement.blocks, capacity).used;
  };
  EXPECT_LE(used(placement.capacity), config.sram_bytes);
  EXPECT_GT(used(placement.capacity + 1), config.sram_bytes);
}

TEST(Placement, CountsCachesOfEveryRowOfABatch) {
  const ChipConfig config = chip_named("tiles-256.json");
  EXPECT_EQ(
      placed("llama-3.2-1b", "batch:64x1024", 1, chip_named("tiles-256.json", {{"chips", "17"}}))
          .layer_tiles,
      136);
  EXPECT_GT(placed("llama-3.2-1b", "decode:131072", 1, config).layer_tiles, 136);
}

TEST(Placement, TakesTheTilesThatAreAskedFor) {
  const Settings settings = {{"layer_tiles", "64"}, {"head_tiles", "200"}, {"chips", "8"}};
  const Placement placement =
      placed("llama-3.2-1b", "decode:1024", 1, chip_named("tiles-256.json", settings));
  EXPECT_EQ(placement.layer_tiles, 64);
  EXPECT_EQ(placement.table_tiles, 200);
  EXPECT_EQ(placement.parts, 5);
}

TEST(Placement, StacksStagesOfAChipWhereTilesAreShared) {
  const ChipConfig config = chip_named("tiles-256.json", {{"placement", "shared"}, {"chips", "5"}});
  const Plan plan = lowered("llama-3.2-1b", "decode:1024", 1, config);
  std::map<std::int32_t, std::set<std::int64_t>> bases;
  for (const Stage& stage : plan.stages) {
    EXPECT_EQ(stage.tiles, 256);
    EXPECT_TRUE(bases[stage.chip].insert(stage.base).second);
  }
  EXPECT_EQ(bases.size(), 5U);
}

TEST(Rectangles, HoldTheTilesWithNoRowToSpareSquareFirst) {
  const std::vector<Rectangle> found = rectangles(48, 16, 16);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().width * found.front().height, 48);
  for (const Rectangle& r : found) {
    EXPECT_GE(r.width * r.height, 48);
    EXPECT_LT(r.width * (r.height - 1), 48);
    EXPECT_LE(std::max(r.width, r.height), 16);
  }
  EXPECT_TRUE(rectangles(257, 16, 16).empty());
  EXPECT_TRUE(rectangles(0, 16, 16).empty());
}

TEST(Floor, NeverLaysOneRectangleOverAnother) {
  Floor floor(7, 5);
  std::set<std::tuple<int, int, int>> taken;
  for (const Rectangle& shape : {Rectangle{0, 0, 3, 2},
                                 {0, 0, 7, 1},
                                 {0, 0, 2, 4},
                                 {0, 0, 4, 4},
                                 {0, 0, 1, 5},
                                 {0, 0, 3, 3}}) {
    const StagePlace place = floor.lay({shape});
    for (int y = place.tiles.y; y < place.tiles.y + place.tiles.height; ++y) {
      for (int x = place.tiles.x; x < place.tiles.x + place.tiles.width; ++x) {
        EXPECT_TRUE(taken.insert({place.part, x, y}).second);
        EXPECT_LT(x, 7);
        EXPECT_LT(y, 5);
      }
    }
  }
  EXPECT_EQ(floor.parts(), taken.empty() ? 0 : std::get<0>(*taken.rbegin()) + 1);
}

}  // namespace
}  // namespace logos::spatial
