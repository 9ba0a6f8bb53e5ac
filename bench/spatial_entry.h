#pragma once

#include <string>

#include "bench/lanes.h"

namespace logos::bench {

/// The lane spatial as the options ask for it.
LaneEntry spatial_entry(const Options& options);

/// The faults that can be planted in it, a line each.
std::string spatial_faults();

}  // namespace logos::bench
