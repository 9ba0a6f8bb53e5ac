#pragma once

#include <string>

#include "bench/outcome.h"

namespace logos::bench {

/// What the lanes did when, as Chrome's trace event JSON (docs/trace.md), for ui.perfetto.dev and
/// chrome://tracing: a process a cut and lane, a thread a track, lines of the program as slices,
/// counters. One strict JSON object with a line feed at its end. Times are whole nanoseconds from
/// the start of each run; slices are in order and nested, whatever the timelines hold.
std::string trace_json(const Report& report);

}  // namespace logos::bench
