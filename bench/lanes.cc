#include "bench/lanes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bench/configurations.h"
#include "bench/progress.h"
#include "cuda/lane.h"
#include "program/error.h"
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
  lane_options.say = [](const std::string& how) { say(fmt::format("cuda: {}", how)); };
  return {"cuda", std::make_unique<cuda::CudaLane>(std::move(lane_options)),
          cuda::load_gpu_config(configuration_file(kGpus, options.gpu), options.gpu_settings)};
}

}  // namespace

LaneEntry reference_entry() {
  return {"reference", std::make_unique<ReferenceLane>(), LaneConfig{}};
}

LaneTable lane_table() {
  return {{"reference", [](const Options&) { return reference_entry(); }},
          {"cuda", cuda_entry},
          {"d5005", nullptr},
          {"spatial", nullptr}};
}

/// An option that no lane of the run reads is a mistake, not a wish.
void check_lane_options(const Options& options, const std::vector<LaneEntry>& lanes) {
  const bool cuda = std::any_of(lanes.begin(), lanes.end(),
                                [](const LaneEntry& lane) { return lane.name == "cuda"; });
  if (cuda) return;
  if (options.gpu) throw Error("--gpu", "the lane cuda is not among the lanes");
  if (!options.gpu_settings.empty()) {
    throw Error(fmt::format("--set gpu.{}", options.gpu_settings.front().first),
                "the lane cuda is not among the lanes");
  }
}

std::vector<LaneEntry> make_lanes(const LaneTable& table, const Options& options) {
  std::vector<LaneEntry> lanes;
  if (options.lanes.empty()) {
    for (const LaneKind& kind : table) {
      if (kind.make) lanes.push_back(kind.make(options));
    }
  }
  for (const std::string& name : options.lanes) {
    if (std::any_of(lanes.begin(), lanes.end(),
                    [&](const LaneEntry& lane) { return lane.name == name; })) {
      throw Error("--lanes", fmt::format("{} named twice", name));
    }
    lanes.push_back(kind_named(table, name).make(options));
  }
  check_lane_options(options, lanes);
  return lanes;
}

}  // namespace logos::bench
