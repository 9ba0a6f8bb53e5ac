#pragma once

#include <memory>
#include <span>

#include "rtl/board/board.h"
#include "rtl/board/engine_log.h"
#include "rtl/driver/plan_runner.h"
#include "rtl/lowering/plan.h"
#include "rtl/lowering/traffic.h"
#include "sim/timeline.h"

namespace logos::d5005 {

/// A run of boards: of each the instructions of its units, how busy its units were and what they
/// waited for, what its banks moved, and what the host moved between boards.
///
/// The lines' seconds: each cycle is the instruction's whose unit gives the cycle its category
/// (unit_of_cycle), on the board that took longest; an exchange is the line's of the instruction
/// before it; cycles of no instruction are no line's.
Timeline timeline_of(const Plan& plan, const BoardParameters& board, const Traffic& traffic,
                     const PlanOutcome& outcome, std::span<const std::shared_ptr<EngineLog>> logs);

}  // namespace logos::d5005
