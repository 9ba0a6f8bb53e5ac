#include "bench/spatial_entry.h"

#include <fmt/format.h>

#include <utility>

#include "bench/configurations.h"
#include "spatial/chip/fault.h"
#include "spatial/lane.h"

namespace logos::bench {

LaneEntry spatial_entry(const Options& options) {
  spatial::SpatialLaneOptions lane_options;
  for (const std::string& fault : options.faults) {
    spatial::ChipRun unused;
    spatial::plant_fault(fault, unused);  // refuses one that there is none of
    lane_options.faults.push_back(fault);
  }
  lane_options.say = remarks_of("spatial", options);
  return {
      "spatial", std::make_unique<spatial::SpatialLane>(std::move(lane_options)),
      spatial::load_chip_config(configuration_file(kChips, options.chip), options.chip_settings)};
}

std::string spatial_faults() {
  std::string text;
  for (const spatial::FaultKind& kind : spatial::fault_kinds()) {
    text += fmt::format("  {:<20} {}\n", fmt::format("{}N:{}", kind.unit, kind.kind), kind.effect);
  }
  return text;
}

}  // namespace logos::bench
