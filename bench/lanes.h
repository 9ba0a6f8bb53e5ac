#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "sim/lane.h"

namespace logos::bench {

/// A lane as one command runs it.
struct LaneEntry {
  std::string name;
  std::unique_ptr<Lane> lane;
  LaneConfig config;
};

/// A row of the table of lanes: how one is made. `make` is null where it is not built in.
struct LaneKind {
  std::string name;
  std::function<LaneEntry(const Options&)> make;
  std::string faults = {};                    ///< what --fault can plant in it: a line each
  std::vector<std::string> fault_units = {};  ///< whose faults they are, without their numbers
};
using LaneTable = std::vector<LaneKind>;

/// What a lane is given to make its remarks with: `say`, each remark once where options share what
/// was said.
std::function<void(const std::string&)> remarks_of(std::string_view lane, const Options& options);

/// All lanes there are, in the order in which they are shown and run.
LaneTable lane_table();

/// The reference, which also makes inputs and checks splits whatever the lanes are.
LaneEntry reference_entry();

/// The lanes that the options name (all that are built, where they name none), in the order of the
/// options. Throws Error for an unknown one, one that is not built in, one named twice, and for an
/// option that none of them reads.
std::vector<LaneEntry> make_lanes(const LaneTable& table, const Options& options);

}  // namespace logos::bench
