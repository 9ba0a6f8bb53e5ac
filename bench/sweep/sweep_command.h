#pragma once

#include <string>
#include <vector>

#include "bench/lanes.h"

namespace logos::bench {

/// `bench sweep --cut 'decode:{A..B*F}' --vary KEY=V,V… --history FILE …`: runs the points that the
/// history does not have yet, and prints them all with the crossovers. Gives the exit status: as of
/// one run with all points.
int sweep_command(const std::vector<std::string>& arguments, const LaneTable& table);

}  // namespace logos::bench
