#include "spatial/map.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/check.h"

namespace logos::spatial {
namespace {

double fraction(std::uint64_t part, double whole) {
  return whole > 0 ? static_cast<double>(part) / whole : 0;
}

/// Enters a stage in the tiles that it has.
void place(const Stage& stage, int index, const ChipConfig& config, ChipUse& chip) {
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    const std::int32_t node =
        (stage.y + tile / stage.width) * config.mesh.width + stage.x + tile % stage.width;
    TileUse& use = chip.tiles[static_cast<std::size_t>(node)];
    if (use.stage < 0) use.stage = index;
    use.sram_fill += fraction(static_cast<std::uint64_t>(stage.used_bytes),
                              static_cast<double>(config.sram_bytes));
  }
}

ChipUse use_of(std::size_t c, const ChipConfig& config, const RunReport& report) {
  ChipUse chip;
  chip.width = config.mesh.width;
  chip.height = config.mesh.height;
  chip.tiles.resize(static_cast<std::size_t>(chip.width * chip.height));
  const auto cycles = static_cast<double>(report.cycles);
  if (c < report.tiles.size()) {
    for (std::size_t t = 0; t < std::min(report.tiles[c].size(), chip.tiles.size()); ++t) {
      const TileReport& tile = report.tiles[c][t];
      chip.tiles[t].mac_busy = fraction(tile.mac_busy, cycles);
      chip.tiles[t].vector_busy = fraction(tile.vector_busy, cycles);
      chip.tiles[t].port_busy = fraction(tile.sram_bytes, cycles * config.sram_bytes_per_cycle);
    }
  }
  if (c < report.links.size()) {
    for (const LinkLoad& link : report.links[c]) {
      if (link.flits > 0) chip.links.push_back({link.from, link.to, fraction(link.flits, cycles)});
    }
  }
  return chip;
}

}  // namespace

std::string name_of(const Plan& plan, const Stage& stage) {
  std::string name;
  switch (stage.kind) {
    case StageKind::kEmbedding:
      name = "embedding";
      break;
    case StageKind::kLayer:
      name = fmt::format("layer {}", stage.layer);
      break;
    case StageKind::kHead:
      name = "head";
      break;
  }
  if (plan.text_chips > 1) name += fmt::format(" of text chip {}", stage.text_chip);
  return name;
}

MachineMap map_of(const Plan& plan, const ChipConfig& config, const RunReport& report,
                  const CriticalPath& path) {
  MachineMap map;
  map.cycles_by_line = path.by_line;
  std::int32_t last_chip = 0;
  for (const Stage& stage : plan.stages) {
    last_chip = std::max(last_chip, stage.chip);
    map.stages.push_back({name_of(plan, stage), stage.chip, stage.x, stage.y, stage.width,
                          stage.height, stage.tiles, stage.used_bytes, 0});
  }
  for (const StageTime& time : report.stage_times) {
    StageUse& stage = map.stages[static_cast<std::size_t>(time.stage)];
    stage.block_cycles = std::max(stage.block_cycles, time.end - time.begin);
  }
  for (std::size_t c = 0; c <= static_cast<std::size_t>(last_chip); ++c) {
    map.chips.push_back(use_of(c, config, report));
  }
  for (const ChipLinkLoad& link : report.chip_links) {
    if (link.bytes == 0) continue;
    map.chip_links.push_back({link.from, link.to, static_cast<std::uint64_t>(link.bytes),
                              fraction(link.busy_cycles, static_cast<double>(report.cycles))});
  }
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    place(plan.stages[s], static_cast<int>(s), config,
          map.chips[static_cast<std::size_t>(plan.stages[s].chip)]);
  }
  return map;
}

}  // namespace logos::spatial
