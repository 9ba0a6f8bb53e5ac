#pragma once

#include <string_view>

#include "sim/lane.h"

namespace logos {

/// The lane that defines the bits: executes the text directly on this host. Its artifact's payload
/// is the text; its only configuration is `{}`.
class ReferenceLane : public Lane {
 public:
  std::string_view name() const override { return "reference"; }
  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override;
  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override;
};

}  // namespace logos
