#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl/board/board.h"
#include "rtl/board/board_config.h"
#include "rtl/lowering/plan.h"
#include "sim/lane.h"

namespace logos::d5005 {

/// How a lane makes its boards. None of it changes an artifact.
struct D5005LaneOptions {
  std::vector<std::string> faults;  ///< `UNIT:KIND@CYCLE`, planted in a run's first board
  /// Makes a run's first board in place of make_board, where it is to be recorded.
  std::function<std::unique_ptr<Board>(const Plan&, const D5005Config&, const BoardOptions&)>
      make_first;
};

/// Runs programs on the decode engine's SystemVerilog under Verilator, on a board whose memory and
/// host link take time. A board is made for each run: no run sees what another left in it.
class D5005Lane : public Lane {
 public:
  explicit D5005Lane(D5005LaneOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "d5005"; }
  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override;
  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override;

 private:
  D5005LaneOptions options_;
};

}  // namespace logos::d5005
