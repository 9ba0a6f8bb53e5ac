// Planted faults are caught, and what cannot run is refused, each with its message.
#include "spatial/chip/fault.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/error.h"
#include "tests/spatial/chip/chip_case.h"
#include "tests/spatial/lowering/models.h"

namespace logos::spatial {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string said_by(const std::function<void()>& run) {
  try {
    run();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string said_with(const ChipCase& job, const ChipRun& options) {
  return said_by([&] { job.time(chip_named("small.json"), options); });
}

TEST(ChipFaults, AnEarlyReadIsCaughtInEveryTile) {
  const ChipCase job("llama", "layer:1@decode:5");
  const ChipConfig chip = chip_named("small.json");
  const Plan plan = job.plan(chip);
  const Stage& stage = plan.stages.front();
  int caught = 0;
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    const Node node =
        (stage.y + tile / stage.width) * chip.mesh.width + stage.x + tile % stage.width;
    for (const Cycles from : {0u, 150u, 400u, 800u}) {
      ChipRun options;
      options.early_read = EarlyRead{0, node, from};
      const std::string said = said_with(job, options);
      if (said.find("never had a chance") != std::string::npos) continue;
      EXPECT_THAT(said, AllOf(HasSubstr(fmt::format("tile {} of layer 1", tile)),
                              HasSubstr("before it is full")));
      ++caught;
    }
  }
  EXPECT_GT(caught, 2 * stage.tiles);
}

TEST(ChipFaults, AnEarlyReadWithoutAChanceIsAnError) {
  const ChipCase job("llama", "layer:1@decode:5");
  ChipRun options;
  options.early_read = EarlyRead{0, 0, 1u << 30};
  EXPECT_THAT(said_with(job, options), HasSubstr("a planted fault never had a chance to strike"));
}

TEST(ChipFaults, WhatANetworkLosesIsFound) {
  const ChipCase job("llama", "layer:1@decode:5");
  using Kind = MeshFault::Kind;
  for (const Kind kind : {Kind::kDroppedFlit, Kind::kLostCredit, Kind::kSwappedDestination}) {
    for (const Cycles from : {0u, 300u}) {
      ChipRun options;
      options.mesh_faults = {MeshFault{kind, 0, from}};
      EXPECT_NE(said_with(job, options), "") << static_cast<int>(kind) << " from " << from;
    }
  }
  ChipRun dropped;
  dropped.mesh_faults = {MeshFault{Kind::kDroppedFlit, 0, 0}};
  EXPECT_THAT(said_with(job, dropped),
              AllOf(HasSubstr("nothing can go on"), HasSubstr("waits for \"")));
  ChipRun swapped;
  swapped.mesh_faults = {MeshFault{Kind::kSwappedDestination, 0, 0}};
  EXPECT_THAT(said_with(job, swapped), HasSubstr("a packet arrives that is for another tile"));
  // After all that a run is as ever.
  EXPECT_EQ(difference(job.on_reference(), job.on_chips(chip_named("small.json"))), "");
}

TEST(ChipFaults, TheCycleLimitIsAnError) {
  const ChipCase job("llama", "decode:5");
  ChipRun options;
  options.cycle_limit = 100;
  EXPECT_THAT(said_with(job, options), AllOf(HasSubstr("cycle limit reached"), HasSubstr("100")));
  options.cycle_limit = job.time(chip_named("small.json")).cycles + 1000;
  EXPECT_EQ(said_with(job, options), "");
}

TEST(ChipFaults, PositionsBeyondTheTilesAreRefused) {
  ChipCase job("llama", "prefill:3");
  const ChipConfig chip = chip_named("small.json");
  const std::int64_t capacity = job.plan(chip).capacity;
  job.inputs.positions = {capacity, capacity + 1, capacity + 2};
  job.inputs.caches = {KvCache(capacity + 64, 2, 18, 1, 2)};
  EXPECT_THAT(said_by([&] { job.time(chip); }),
              AllOf(HasSubstr("positions of the run"), HasSubstr("more than the tiles")));
}

TEST(ChipFaults, WeightsOfAnotherShapeAreRefused) {
  const ChipCase job("llama", "decode:5");
  const ChipConfig chip = chip_named("small.json");
  Plan plan = job.plan(chip);
  plan.stages.front().matrices.front().rows += 1;
  EXPECT_THAT(said_by([&] { job.on_chips(plan, chip); }), HasSubstr("another shape"));
  plan = job.plan(chip);
  plan.stages[1].vectors.front().size += 1;
  EXPECT_THAT(said_by([&] { job.on_chips(plan, chip); }), HasSubstr("another size"));
}

TEST(ChipFaults, FaultsOfValuesAreThoseOfTheReference) {
  ChipCase job("qwen3", "layer:1@prefill:7");
  job.inputs.given[200] = 0x1p45f;
  const Outcome expected = job.on_reference();
  ASSERT_TRUE(expected.fault_line.has_value());
  EXPECT_EQ(difference(expected, job.on_chips(chip_named("small.json"))), "");
}

TEST(PlantFault, TakesWhatIsListed) {
  ChipRun run;
  plant_fault("tile12:early_read@500", run);
  ASSERT_TRUE(run.early_read.has_value());
  EXPECT_EQ(run.early_read->node, 12);
  EXPECT_EQ(run.early_read->from, 500u);
  plant_fault("mesh1:lost_credit@7", run);
  ASSERT_EQ(run.mesh_faults.size(), 2u);
  EXPECT_FALSE(run.mesh_faults[0].has_value());
  EXPECT_EQ(run.mesh_faults[1]->kind, MeshFault::Kind::kLostCredit);
  EXPECT_EQ(run.mesh_faults[1]->from, 7u);
  for (const FaultKind& kind : fault_kinds()) {
    ChipRun other;
    plant_fault(fmt::format("{}0:{}@1", kind.unit, kind.kind), other);
    EXPECT_TRUE(other.early_read.has_value() || !other.mesh_faults.empty()) << kind.kind;
  }
}

TEST(PlantFault, RefusesTheRest) {
  for (const char* text :
       {"", "tile", "tile0", "tile0:early_read", "tile:early_read@1", "tile0:early_read@",
        "tile0:dropped_flit@1", "mesh0:early_read@1", "tile-1:early_read@1", "tile0:early_read@-1",
        "tile0:early_read@1x", "tile0:early_read@010", "tile00:early_read@1", "tile0@1:early_read",
        "bank0:silent@1", "mesh9999999:lost_credit@1"}) {
    ChipRun run;
    EXPECT_THAT(said_by([&] { plant_fault(text, run); }),
                AllOf(HasSubstr(text), HasSubstr("tileN:early_read@CYCLE")))
        << text;
  }
  ChipRun run;
  plant_fault("tile0:early_read@1", run);
  EXPECT_THAT(said_by([&] { plant_fault("tile1:early_read@1", run); }),
              HasSubstr("another fault is planted in the tiles"));
  plant_fault("mesh0:dropped_flit@1", run);
  EXPECT_THAT(said_by([&] { plant_fault("mesh0:lost_credit@1", run); }),
              HasSubstr("another fault is planted in mesh0"));
}

TEST(PlantFault, UnitsThatAChipDoesNotHaveAreRefused) {
  const ChipCase job("llama", "layer:1@decode:5");
  ChipRun tile;
  plant_fault("tile48:early_read@1", tile);
  EXPECT_THAT(said_with(job, tile), AllOf(HasSubstr("no such tile"), HasSubstr("tile0 to tile47")));
  ChipRun mesh;
  plant_fault("mesh12:dropped_flit@1", mesh);
  EXPECT_THAT(said_with(job, mesh), AllOf(HasSubstr("no such chip"), HasSubstr("mesh0 to mesh11")));
}

}  // namespace
}  // namespace logos::spatial
