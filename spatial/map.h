#pragma once

#include "sim/machine_map.h"
#include "spatial/chip/critical_path.h"
#include "spatial/chip/report.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// "layer 3 of chip 2": as StageUse has it.
std::string name_of(const Plan& plan, const Stage& stage);

/// The placement, what it holds, and how busy a run kept it.
MachineMap map_of(const Plan& plan, const ChipConfig& config, const RunReport& report,
                  const CriticalPath& path);

}  // namespace logos::spatial
