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
/// The lines' seconds: instructions in program order, each from the end of all before it to its own
/// (what ends earlier takes none), on the board that took longest; an exchange goes to the line of
/// the instruction before it, what comes before the first instruction's start to none.
Timeline timeline_of(const Plan& plan, const BoardParameters& board, const Traffic& traffic,
                     const PlanOutcome& outcome, std::span<const std::shared_ptr<EngineLog>> logs);

}  // namespace logos::d5005
