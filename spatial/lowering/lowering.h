#pragma once

#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// The programs of all text chips, in order, and what their text states -> stages on chips.
/// Throws Error for what the chips cannot hold, with what is needed and what there is.
Plan lower_programs(const Facts& facts, const std::vector<Program>& programs,
                    const ChipConfig& config);

}  // namespace logos::spatial
