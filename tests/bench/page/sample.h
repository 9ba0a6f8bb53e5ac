#pragma once

#include "bench/outcome.h"
#include "sim/machine_map.h"
#include "sim/timeline.h"

namespace logos::bench {

/// A run as four lanes would give it, with timelines and a map of a chip: every part of the page
/// has something to show. The numbers are not round, so that a wrong one is seen.
Report sample_report();

/// One lane's timeline: units and banks with slices of lines 40 and up, bandwidth and stalls.
Timeline sample_timeline(double seconds);

}  // namespace logos::bench
