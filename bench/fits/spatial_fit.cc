#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "bench/configurations.h"
#include "bench/fits/fit.h"
#include "program/genuine.h"
#include "program/written.h"
#include "spatial/bound.h"
#include "spatial/chip_config.h"
#include "spatial/lowering/lowering.h"

namespace logos::bench {
namespace {

constexpr std::int32_t kManyChips = 1 << 14;  ///< more than any model needs

Fit fit_on(const spatial::ChipConfig& config, const ModelSpec& spec, const Cut& cut,
           std::int64_t chips) {
  const Written written = written_split(spec, cut, chips);
  const auto programs = read_genuine(written.text, "program", written.identity);
  spatial::ChipConfig room = config;
  room.chips = kManyChips / static_cast<std::int32_t>(chips) * static_cast<std::int32_t>(chips);
  const spatial::Plan plan =
      spatial::lower_programs(read_facts(written.text, "program"), programs, room);
  std::int64_t most = 0;
  std::int64_t held = 0;
  std::int64_t tiles = 0;
  std::set<std::int32_t> used;
  for (const spatial::Stage& stage : plan.stages) {
    most = std::max(most, stage.base + stage.used_bytes);
    held += stage.held_bytes * stage.tiles;
    if (stage.base == 0) tiles += stage.tiles;
    used.insert(stage.chip);
  }
  Fit fit;
  fit.chips = static_cast<std::int64_t>(used.size());
  fit.chips_are = config.chips;
  const std::int64_t on_a_chip = std::int64_t{config.mesh.width} * config.mesh.height;
  fit.memories = {
      {"SRAM of a tile", "bytes", most, config.sram_bytes},
      {"tiles", "tiles", tiles, on_a_chip * config.chips},
      {"SRAM for weights", "bytes", held, on_a_chip * config.chips * config.sram_bytes}};
  const spatial::PlanBound bound = spatial::bound_of(plan, room, timed_positions(cut));
  fit.bound = bound.name;
  fit.bound_seconds = static_cast<double>(bound.cycles) / config.clock_hz;
  return fit;
}

}  // namespace

FitLane spatial_fit(const Options& options) {
  const LaneConfig config =
      spatial::load_chip_config(configuration_file(kChips, options.chip), options.chip_settings);
  return {"spatial", [config = spatial::parse_chip_config(config.json)](
                         const ModelSpec& spec, const Cut& cut, std::int64_t chips) {
            return fit_on(config, spec, cut, chips);
          }};
}

}  // namespace logos::bench
