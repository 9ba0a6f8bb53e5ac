#include "spatial/plan/print.h"

#include <gtest/gtest.h>

#include <set>

#include "program/text_file.h"
#include "spatial/lowering/lowering.h"
#include "spatial/plan/plan_bytes.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

std::string golden(const std::string& name) {
  return read_text_file(LOGOS_SOURCE_DIR "/tests/spatial/plan/" + name, 1 << 20);
}

TEST(Print, WritesTheScheduleOfALayersTile) {
  const Plan plan = lowered("qwen2", "decode:5", 1, chip_named("small.json"));
  EXPECT_EQ(print_schedule(plan, plan.stages[1], 1), golden("qwen2_layer_1_tile_1.txt"));
}

TEST(Print, WritesTheScheduleOfASplitLayersTile) {
  const Plan plan = lowered("llama", "prefill:7", 2, chip_named("small.json"));
  EXPECT_EQ(print_schedule(plan, plan.stages[3], 0), golden("llama_2_layer_1_tile_0.txt"));
}

TEST(Print, WritesTheSchedulesOfTheEnds) {
  const Plan plan = lowered("llama", "prefill:7", 2, chip_named("small.json"));
  EXPECT_EQ(
      print_schedule(plan, plan.stages.front(), 1) + print_schedule(plan, plan.stages.back(), 0),
      golden("llama_2_ends.txt"));
}

TEST(Print, DrawsWhereStagesLie) {
  const ChipConfig config = chip_named("small.json");
  const Plan plan = lowered("kjv", "decode:5", 1, config);
  EXPECT_EQ(print_placement(plan, config), golden("kjv_placement.txt"));
}

TEST(Print, NamesEveryStepOnce) {
  std::set<std::string_view> names;
  for (int opcode = 0; opcode <= static_cast<int>(Opcode::kDone); ++opcode) {
    const std::string_view name = name_of(static_cast<Opcode>(opcode));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Schedule, HasADigestThatItsPlaceDoesNotChange) {
  const ChipConfig config = chip_named("small.json");
  const Plan plan = lowered("kjv", "decode:5", 1, config);
  Stage moved = plan.stages[1];
  moved.x += 1;
  moved.chip += 1;
  EXPECT_EQ(schedule_sha256(moved), schedule_sha256(plan.stages[1]));
  // In other tiles, or higher up in SRAM, a layer of the same operations has the same.
  const Plan stacked =
      lowered("kjv", "decode:5", 1, chip_named("small.json", {{"placement", "shared"}}));
  Stage higher = stacked.stages[1];
  higher.base += 640;
  for (Area& area : higher.areas) area.offset += 640;
  EXPECT_EQ(schedule_sha256(higher), schedule_sha256(stacked.stages[1]));
  Stage other = plan.stages[1];
  other.steps.pop_back();
  EXPECT_NE(schedule_sha256(other), schedule_sha256(plan.stages[1]));
}

}  // namespace
}  // namespace logos::spatial
