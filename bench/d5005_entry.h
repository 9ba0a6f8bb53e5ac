#pragma once

#include <string>

#include "bench/lanes.h"
#include "rtl/lane.h"

namespace logos::bench {

/// The lane d5005 as the options ask for it. `lane_options`: how it makes its boards, to which the
/// options' faults are added.
LaneEntry d5005_entry(const Options& options, d5005::D5005LaneOptions lane_options = {});

/// The faults that can be planted in it, a line each.
std::string d5005_faults();

}  // namespace logos::bench
