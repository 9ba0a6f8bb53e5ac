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

/// What a plan's run gave.
struct PlanOutcome {
  std::vector<float> outputs;  ///< `[plan.output_rows, plan.output_columns]`
  RunCounters counters;
  std::uint64_t host_bytes = 0;  ///< of the output buffer that the engine wrote
};

struct PlanRunOptions {
  std::byte fill{0};  ///< what padding in the banks holds
  std::optional<std::uint64_t> cycle_limit;
};

/// Loads a plan's image into the board, runs it there, and takes back what it stored and pushed.
PlanOutcome run_plan(const Plan& plan, Driver& driver, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options);

}  // namespace logos::d5005
