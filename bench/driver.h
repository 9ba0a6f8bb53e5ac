#pragma once

#include <string>
#include <vector>

#include "bench/lanes.h"

namespace logos::bench {

/// The whole program on a table of lanes: reads the command line (without the program's name),
/// runs, prints, writes the files. Gives the exit status (architecture.md, Commands).
int bench_main(const std::vector<std::string>& arguments, const LaneTable& table);

}  // namespace logos::bench
