#include "sim/reference/reference_lane.h"

#include "program/error.h"
#include "program/genuine.h"
#include "sim/reference/executor.h"
#include "sim/reference/timeline.h"
#include "sim/reference/traffic.h"

namespace logos {
namespace {

void check_config(const LaneConfig& config) {
  if (config.json != "{}") {
    throw Error("reference", "configuration of a lane that has none", config.json, "{}");
  }
}

}  // namespace

Artifact ReferenceLane::lower(std::string_view text, const Identity& asked,
                              const WeightStore& weights, const LaneConfig& config) const {
  check_config(config);
  const auto programs = read_genuine(text, "program", asked);
  reference::check_weights(programs, weights);
  return {std::string(name()), asked, weights.sha256(), config.sha256(), std::string(text)};
}

Result ReferenceLane::run(const Artifact& artifact, const Identity& asked,
                          const WeightStore& weights, const LaneConfig& config, Inputs& inputs,
                          const RunOptions& options) const {
  check_config(config);
  check_artifact(artifact, name(), asked, weights.sha256(), config.sha256());
  if (options.threads < 1) {
    throw Error("reference", "host threads", std::to_string(options.threads), "1 or more");
  }
  const auto programs = read_genuine(artifact.payload, "artifact", asked);
  reference::ExecuteOptions execute_options;
  execute_options.observer = options.observer;
  execute_options.threads = options.threads;
  execute_options.spans = options.timeline;
  auto execution = reference::execute(programs, inputs, weights, execute_options);
  const reference::Traffic traffic = reference::traffic_of(programs, inputs);

  Timing timing(TimeClass::kMeasured, execution.seconds);
  timing.bytes["ram"] = traffic.bytes;
  timing.macs = traffic.macs;
  Result result{execution.rows, execution.columns, std::move(execution.outputs), execution.fault,
                std::move(timing)};
  if (options.timeline) {
    result.timeline = std::make_shared<Timeline>(
        reference::timeline_of(programs, inputs, execution.spans, execution.seconds));
  }
  return result;
}

}  // namespace logos
