#pragma once

#include <cstdint>
#include <string_view>

#include "rtl/lowering/plan.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// Refuses a plan that lower_programs could not have made for this engine, number of chips and
/// weights, as far as a run relies on it: sizes, extents in DDR and in the output buffer, tensors.
/// What its instructions do is the engine's to refuse. Throws Error (where = `where`).
void check_plan(const Plan& plan, const EngineSize& engine, std::int64_t chips,
                const WeightStore& weights, std::string_view where);

}  // namespace logos::d5005
