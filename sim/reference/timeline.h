#pragma once

#include <span>

#include "program/program.h"
#include "sim/inputs.h"
#include "sim/reference/executor.h"
#include "sim/timeline.h"

namespace logos::reference {

/// A run of the reference: one track, a slice for each stretch of operations of one line. The time
/// is the host's own, so its peaks are not known (0). Bytes and MACs: traffic_of.
Timeline timeline_of(std::span<const Program> programs, const Inputs& inputs,
                     std::span<const Span> spans, double run_seconds);

}  // namespace logos::reference
