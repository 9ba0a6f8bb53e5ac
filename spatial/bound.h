#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// Least cycles of a stage for a block of rows, by what they are needed for.
struct StageBound {
  std::uint64_t sram = 0;    ///< weights once a block, keys and values once a row, at the full rate
  std::uint64_t passes = 0;  ///< of the MAC array, with what its shape leaves unused
  std::uint64_t links = 0;   ///< of the link into a tile, for what others must give it

  std::uint64_t cycles() const;
};

/// `positions` (from 1) of the block's rows; empty where the cut has none.
StageBound bound_of(const Plan& plan, const ChipConfig& config, const Stage& stage,
                    std::int64_t rows, std::span<const std::int64_t> positions);

/// What a run takes at the least, however well its steps overlap: for one of its stages, the way of
/// a block to it, all that the stage does for all blocks at the rate of whatever binds, and the way
/// of a block from there to the end. The largest over the stages counts.
struct PlanBound {
  std::uint64_t cycles = 0;
  const char* name = "sram";       ///< the one that binds the most cycles: sram, mac_array, links
  std::uint64_t weight_bytes = 0;  ///< read from SRAM for products, over all tiles and blocks
  std::uint64_t kv_bytes = 0;      ///< keys and values read and written, with their exponents
  std::uint64_t macs = 0;          ///< useful ones: weights, scores, values
};
PlanBound bound_of(const Plan& plan, const ChipConfig& config,
                   std::span<const std::int64_t> positions);

/// Of PlanBound's work what a line of the program makes, where its step's time counts, too (q, k
/// and v are one step, and so are gate and up); all lines add up to it.
struct LineWork {
  std::uint64_t bytes = 0;  ///< of weights, keys and values
  std::uint64_t macs = 0;
};
std::map<std::int32_t, LineWork> work_by_line(const Plan& plan,
                                              std::span<const std::int64_t> positions);

}  // namespace logos::spatial
