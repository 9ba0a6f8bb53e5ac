#pragma once

#include <nlohmann/json.hpp>

#include "sim/timeline.h"

namespace logos::bench {

/// A timeline as the page draws it: of bounded size, whatever the run's length.
///  `end_ns`, `bins`: the run's time is cut into that many equal stretches
///  `tracks`: {group, name, busy: [share of each stretch], line: [the line with most of it]}, the
///    busiest of each group
///  `counters`: {group, track, name, unit, samples: [[ns, value]]}; of long ones the means over
///    the stretches
///  `lines`: {line, seconds, bytes, macs}; `memory`, `bytes_per_second`, `macs_per_second`
///  `sampling`: what the lane left out, "" for nothing; `decimation`: what was left out here
nlohmann::ordered_json timeline_json(const Timeline& timeline);

}  // namespace logos::bench
