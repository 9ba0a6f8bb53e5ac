#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "spatial/plan/print.h"

namespace logos::spatial {
namespace {

std::string label_of(const Stage& stage) {
  switch (stage.kind) {
    case StageKind::kEmbedding:
      return "E";
    case StageKind::kHead:
      return "H";
    case StageKind::kLayer:
      break;
  }
  return fmt::to_string(stage.layer);
}

/// A cell a tile: the last of the stages there in the order of the program, "." where there is
/// none.
std::vector<std::string> cells_of(const std::vector<const Stage*>& stages, const MeshConfig& mesh) {
  const auto tiles = static_cast<std::size_t>(mesh.width) * static_cast<std::size_t>(mesh.height);
  std::vector<std::string> cells(tiles, ".");
  for (const Stage* stage : stages) {
    for (std::int32_t tile = 0; tile < stage->tiles; ++tile) {
      const std::int64_t x = stage->x + tile % stage->width;
      const std::int64_t y = stage->y + tile / stage->width;
      std::string& cell = cells[static_cast<std::size_t>(y * mesh.width + x)];
      cell = label_of(*stage) + (cell == "." ? "" : "+");
    }
  }
  return cells;
}

std::string map_of(const std::vector<std::string>& cells, std::int32_t width) {
  std::size_t widest = 1;
  for (const std::string& cell : cells) widest = std::max(widest, cell.size());
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool ends = (i + 1) % static_cast<std::size_t>(width) == 0;
    text += fmt::format("{:>{}}{}", cells[i], widest + 1, ends ? "\n" : "");
  }
  return text;
}

std::string line_of(const Plan& plan, const Stage& stage) {
  const auto schedule = static_cast<std::int64_t>(stage.steps.size()) * kStepBytes;
  return fmt::format(
      "  {}: {} tiles of {} x {} from ({}, {}), bytes {} to {}: {} held, {} of schedule, {} of "
      "rows "
      "and caches\n",
      title_of(plan, stage), stage.tiles, stage.width, stage.height, stage.x, stage.y, stage.base,
      stage.base + stage.used_bytes, stage.held_bytes, schedule,
      stage.used_bytes - stage.held_bytes - schedule);
}

}  // namespace

std::string title_of(const Plan& plan, const Stage& stage) {
  std::string title = stage.kind == StageKind::kEmbedding ? "embedding"
                      : stage.kind == StageKind::kHead    ? "head"
                                                          : fmt::format("layer {}", stage.layer);
  if (plan.text_chips > 1) title += fmt::format(" of text chip {}", stage.text_chip);
  return title;
}

std::string print_placement(const Plan& plan, const ChipConfig& config) {
  std::map<std::int32_t, std::vector<const Stage*>> chips;
  for (const Stage& stage : plan.stages) chips[stage.chip].push_back(&stage);
  std::string text;
  for (const auto& [chip, stages] : chips) {
    const std::vector<std::string> cells = cells_of(stages, config.mesh);
    const auto free = std::count(cells.begin(), cells.end(), ".");
    std::int64_t used = 0;
    for (const Stage* stage : stages) used += stage->used_bytes * stage->tiles;
    const double whole = static_cast<double>(config.sram_bytes) * static_cast<double>(cells.size());
    text +=
        fmt::format("chip {} of {}: {} of {} x {} tiles in use, {:.1f} % of the SRAM\n", chip,
                    plan.chips, cells.size() - static_cast<std::size_t>(free), config.mesh.width,
                    config.mesh.height, 100 * static_cast<double>(used) / whole);
    text += map_of(cells, config.mesh.width);
    for (const Stage* stage : stages) text += line_of(plan, *stage);
  }
  return text;
}

}  // namespace logos::spatial
