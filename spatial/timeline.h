#pragma once

#include <cstdint>
#include <span>

#include "sim/timeline.h"
#include "spatial/chip/critical_path.h"
#include "spatial/chip/report.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// A run of the chips: per chip a track for each program of each tile (and block of rows that it
/// holds at once) with what the steps worked for and when it waited, and the links: the busiest of
/// each chip, all together, and those between chips. The lines' seconds are those of the critical
/// path. `positions` (from 1) of the rows.
Timeline timeline_of(const Plan& plan, const ChipConfig& config,
                     std::span<const std::int64_t> positions, const RunReport& report,
                     const CriticalPath& path);

}  // namespace logos::spatial
