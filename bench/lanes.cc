#include "bench/lanes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bench/configurations.h"
#include "bench/progress.h"
#include "cuda/lane.h"
#include "program/error.h"
#if LOGOS_D5005
#include "bench/d5005_entry.h"
#endif
#if LOGOS_SPATIAL
#include "bench/spatial_entry.h"
#endif
#include "sim/reference/reference_lane.h"

namespace logos::bench {
namespace {

const LaneKind& kind_named(const LaneTable& table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const LaneKind& kind) { return kind.name == name; });
  if (found != table.end()) {
    if (found->make) return *found;
    throw Error("--lanes", fmt::format("the lane {} is not built", name));
  }
  std::vector<std::string> names;
  for (const LaneKind& kind : table) {
    if (kind.make) names.push_back(kind.name);
  }
  throw Error("--lanes", "unknown lane", fmt::format("\"{}\"", name),
              fmt::format("{}", fmt::join(names, ", ")));
}

LaneEntry cuda_entry(const Options& options) {
  cuda::CudaLaneOptions lane_options;
  lane_options.say = remarks_of("cuda", options);
  return {"cuda", std::make_unique<cuda::CudaLane>(std::move(lane_options)),
          cuda::load_gpu_config(configuration_file(kGpus, options.gpu), options.gpu_settings)};
}

/// The kind of lane whose unit a fault names.
const LaneKind& kind_of_fault(const LaneTable& table, const std::string& fault) {
  const std::string unit = fault.substr(0, fault.find(':'));
  const std::string family = unit.substr(0, unit.find_last_not_of("0123456789") + 1);
  std::vector<std::string> known;
  for (const LaneKind& kind : table) {
    for (const std::string& of_kind : kind.fault_units) {
      if (of_kind == family) return kind;
      known.push_back(of_kind);
    }
  }
  throw Error("--fault", "no such unit", fmt::format("\"{}\"", unit),
              known.empty() ? "a lane that is built with faults"
                            : fmt::format("{}", fmt::join(known, ", ")));
}

/// A lane made with those faults of the options that are its own.
LaneEntry make_lane(const LaneTable& table, const LaneKind& kind, const Options& options) {
  Options own = options;
  std::erase_if(own.faults, [&](const std::string& fault) {
    return kind_of_fault(table, fault).name != kind.name;
  });
  return kind.make(own);
}

/// An option that no lane of the run reads is a mistake, not a wish.
void check_lane_options(const LaneTable& table, const Options& options,
                        const std::vector<LaneEntry>& lanes) {
  const auto refuse = [&](const std::string& option, std::string_view needed) {
    const auto named = [&](const auto& lane) { return lane.name == needed; };
    if (std::any_of(lanes.begin(), lanes.end(), named)) return;
    const auto kind = std::find_if(table.begin(), table.end(), named);
    if (kind == table.end() || !kind->make) {
      throw Error(option, fmt::format("not built: it needs the lane {}", needed));
    }
    throw Error(option, fmt::format("the lane {} is not among the lanes", needed));
  };
  if (options.map) refuse("--map", "spatial");
  if (options.gpu) refuse("--gpu", "cuda");
  if (options.board) refuse("--board", "d5005");
  if (options.engine_rows) refuse("--engine-rows", "d5005");
  for (const std::string& fault : options.faults) {
    refuse("--fault", kind_of_fault(table, fault).name);
  }
  if (options.chip) refuse("--chip-config", "spatial");
  if (options.wave) refuse("--wave", "d5005");
  const auto refuse_settings = [&](const auto& settings, std::string_view owner,
                                   std::string_view needed) {
    if (!settings.empty()) {
      refuse(fmt::format("--set {}.{}", owner, settings.front().first), needed);
    }
  };
  refuse_settings(options.gpu_settings, "gpu", "cuda");
  refuse_settings(options.board_settings, "board", "d5005");
  refuse_settings(options.chip_settings, "chip", "spatial");
}

}  // namespace

std::function<void(const std::string&)> remarks_of(std::string_view lane, const Options& options) {
  return [name = std::string(lane), options](const std::string& remark) {
    say_once(options, fmt::format("{}: {}", name, remark));
  };
}

LaneEntry reference_entry() {
  return {"reference", std::make_unique<ReferenceLane>(), LaneConfig{}};
}

LaneTable lane_table() {
  LaneTable table = {{"reference", [](const Options&) { return reference_entry(); }},
                     {"cuda", cuda_entry},
                     {"d5005", nullptr},
                     {"spatial", nullptr}};
#if LOGOS_D5005
  table[2].make = [](const Options& options) { return d5005_entry(options); };
  table[2].faults = d5005_faults();
  table[2].fault_units = {"bank", "host", "engine"};
#endif
#if LOGOS_SPATIAL
  table[3].make = [](const Options& options) { return spatial_entry(options); };
  table[3].faults = spatial_faults();
  table[3].fault_units = {"tile", "mesh"};
#endif
  return table;
}

std::vector<LaneEntry> make_lanes(const LaneTable& table, const Options& options) {
  std::vector<LaneEntry> lanes;
  if (options.lanes.empty()) {
    for (const LaneKind& kind : table) {
      if (kind.make) lanes.push_back(make_lane(table, kind, options));
    }
  }
  for (const std::string& name : options.lanes) {
    if (std::any_of(lanes.begin(), lanes.end(),
                    [&](const LaneEntry& lane) { return lane.name == name; })) {
      throw Error("--lanes", fmt::format("{} named twice", name));
    }
    lanes.push_back(make_lane(table, kind_named(table, name), options));
  }
  check_lane_options(table, options, lanes);
  return lanes;
}

}  // namespace logos::bench
