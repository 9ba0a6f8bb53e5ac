#pragma once

#include "rtl/board/board_config.h"
#include "rtl/lowering/plan.h"
#include "sim/lane.h"

namespace logos::d5005 {

/// Runs programs on the decode engine's SystemVerilog under Verilator, on a board whose memory and
/// host link take time. A board is made for each run: no run sees what another left in it.
class D5005Lane : public Lane {
 public:
  std::string_view name() const override { return "d5005"; }
  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override;
  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override;
};

}  // namespace logos::d5005
