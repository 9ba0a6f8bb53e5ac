#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/machine_map.h"

namespace logos::bench {

/// For people: a plan of each chip with its programs, and how busy its MAC arrays were; a line a
/// program; the busiest links; the lines of the program that the time went into. `lines` is the
/// program's text (line 1 first).
std::string map_text(const MachineMap& map, const std::vector<std::string>& lines);

/// The same as JSON: `stages`, `chips` with `tiles` and `links`, `chip_links`, `cycles_by_line`.
nlohmann::ordered_json map_json(const MachineMap& map);

}  // namespace logos::bench
