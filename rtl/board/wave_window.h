#pragma once

#include <cstdint>
#include <filesystem>
#include <set>

namespace logos::d5005 {

/// What of a run a waveform holds: cycles of the engine from its start on, or those in which a unit
/// works on an instruction of certain operations (numbers as in Plan::lines), with some around.
struct WaveWindow {
  std::filesystem::path file;
  std::uint64_t first_cycle = 0;
  std::uint64_t end_cycle = 0;  ///< the first that is not in it
  std::set<std::uint32_t> operations;
};

}  // namespace logos::d5005
