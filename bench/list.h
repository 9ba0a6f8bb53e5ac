#pragma once

#include <string>

#include "bench/lanes.h"

namespace logos::bench {

/// What --list prints: cuts, models, presets, lanes built in, configurations.
std::string list_text(const LaneTable& table);

}  // namespace logos::bench
