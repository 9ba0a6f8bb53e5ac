#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/lane.h"
#include "spatial/chip_config.h"

namespace logos::spatial {

class Threads;

/// How a lane makes its chips. None of it changes an artifact.
struct SpatialLaneOptions {
  std::vector<std::string> faults;              ///< `UNIT:KIND@CYCLE`
  std::function<void(const std::string&)> say;  ///< is given remarks (a link loaded too much)
};

/// Runs programs on a tiled dataflow chip, or several, in SystemC's simulated time. The tiles
/// compute: operands arrive in packets, products are made where the weights lie. The chips are made
/// for each run: no run sees what another left in them.
class SpatialLane : public Lane {
 public:
  explicit SpatialLane(SpatialLaneOptions options = {});
  ~SpatialLane() override;

  std::string_view name() const override { return "spatial"; }
  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override;
  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override;

 private:
  SpatialLaneOptions options_;
  std::unique_ptr<Threads> threads_;  ///< of SystemC's kernel: they carry nothing from run to run
};

}  // namespace logos::spatial
