#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bench/lanes.h"

namespace logos::bench {

/// The lanes that this build has, in the order in which they run.
inline std::vector<std::string> built_lanes() {
  std::vector<std::string> names;
  for (const LaneKind& kind : lane_table()) {
    if (kind.make) names.push_back(kind.name);
  }
  return names;
}

inline bool is_built(const std::string& lane) {
  const std::vector<std::string> lanes = built_lanes();
  return std::find(lanes.begin(), lanes.end(), lane) != lanes.end();
}

}  // namespace logos::bench
