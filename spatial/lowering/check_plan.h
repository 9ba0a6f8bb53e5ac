#pragma once

#include <cstdint>
#include <string_view>

#include "sim/weights/store.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// Throws Error (where = `where`) for a plan that lowering could not have made for these chips:
/// every stage's tables, areas, buffers and steps are made again from the sizes that the plan
/// states and must be the same, so that who waits for bytes and who sends them agree. Beyond that:
/// places lie on the chips, no two stages have the same bytes of a tile, stages are linked in the
/// order of a program, tensors are those of the weights in size, operations are there.
///
/// Left to the artifact's identity: which of two tensors of one size a matrix is, and the numbers
/// of lines.
void check_plan(const Plan& plan, const ChipConfig& config, std::int64_t text_chips,
                const WeightStore& weights, std::string_view where);

}  // namespace logos::spatial
