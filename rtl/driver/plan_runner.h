#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rtl/driver/driver.h"
#include "rtl/lowering/plan.h"
#include "sim/inputs.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// A stretch of a run: a segment on all boards, or an exchange between two.
struct RunStretch {
  std::size_t segment = 0;  ///< or the one before the exchange
  bool is_exchange = false;
  std::uint64_t begin = 0;   ///< cycles from the start of the run
  std::uint64_t cycles = 0;  ///< of the board that took longest
  std::size_t board = 0;     ///< that board
};

/// What a plan's run gave.
struct PlanOutcome {
  std::vector<float> outputs;  ///< `[plan.output_rows, plan.output_columns]`
  /// What the engines stored, `plan.host_units` lines of 64 bytes each: the one board's buffer, or
  /// of each pass those of all boards.
  std::vector<std::vector<std::byte>> buffers;
  /// On several boards: of each segment the cycles and categories of the board that took longest,
  /// for the others wait for it, and of each exchange the longest copy, as movement. Banks count
  /// over all boards.
  RunCounters counters;
  std::uint64_t exchanged_bytes = 0;  ///< over the host links, both ways
  std::vector<RunStretch> stretches;  ///< in order
};

struct PlanRunOptions {
  std::byte fill{0};  ///< what padding in the banks holds
  std::optional<std::uint64_t> cycle_limit;
  bool keep_buffers = false;  ///< also on several boards
};

/// Loads a plan's image into its boards, runs it there, and takes back what was stored and pushed.
///
/// Several boards go in step: each runs a segment; the host, when all have ended, moves what they
/// stored into every board's banks by that board's own DMA; then comes the next segment. The boards
/// have a host link each and copy at the same time: an exchange takes as long as the longest copy,
/// counted by the clock of that board's engine from before the copy's first register access to
/// after its last. What the host itself spends on moving bytes between its buffers and on starting
/// runs is not counted, as it is not on one board.
PlanOutcome run_plan(const Plan& plan, std::span<Driver* const> boards, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options);

/// The same on one board.
PlanOutcome run_plan(const Plan& plan, Driver& driver, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options);

}  // namespace logos::d5005
