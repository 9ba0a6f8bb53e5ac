#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "sim/timing.h"
#include "spatial/chip/report.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// What the time of a run went into: the chain of steps and packets that led to its last step,
/// each of which could begin only when the one before had ended. Adds up to the run's cycles.
struct CriticalPath {
  std::array<std::uint64_t, kCategories> by_category{};
  std::map<std::int32_t, std::uint64_t> by_line;  ///< of the program (placeholder form)
};

/// Walks back from the last step: through the steps of its tile to the last wait that ended with
/// a packet, over to the step that sent it, and so on.
CriticalPath critical_path(const Plan& plan, const RunReport& report);

/// The line that a step of a schedule works for; those of no operation go with the one before.
std::int32_t line_of_step(const Plan& plan, const Stage& stage, std::int32_t step);

}  // namespace logos::spatial
