#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spatial/network/network.h"

namespace logos::spatial {

/// Traffic as BookSim2 makes it to measure networks: each tile starts a packet in a cycle with
/// probability rate / flits.
enum class Pattern {
  kUniform,    ///< to any tile, itself too
  kNeighbor,   ///< to the tile one further in both directions, modulo the size (no such links)
  kHotspot,    ///< to the tile in the middle
  kMulticast,  ///< to all tiles of the source's quarter
};
/// Throws Error with the names there are.
Pattern parse_pattern(std::string_view name);

struct Traffic {
  Pattern pattern = Pattern::kUniform;
  double rate = 0.02;  ///< flits offered per tile and cycle
  std::int32_t flits = 1;
  Cycles warm_up = 1000;
  Cycles sample = 4000;  ///< packets that start in these cycles are measured
  std::uint64_t seed = 1;
};

struct TrafficResult {
  double latency = 0;   ///< cycles from start to the last flit's arrival, mean of the measured
  double routers = 0;   ///< on the way, mean of the measured
  double accepted = 0;  ///< flits that arrived per tile and sampled cycle
  std::uint64_t flit_hops = 0;  ///< flits that passed from a router to the next or to its tile
  std::uint64_t packet_hops = 0;
  Cycles cycles = 0;  ///< of the whole run, with its end
  double cpu_seconds = 0;
  std::string unfinished;
  std::string warning;
};

/// Sends the traffic through a mesh that nobody else uses and waits until all has arrived.
TrafficResult run_traffic(Network& network, const MeshConfig& mesh, const Traffic& traffic);

}  // namespace logos::spatial
