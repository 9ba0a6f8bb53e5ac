#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine_map.h"
#include "sim/timeline.h"
#include "sim/timing.h"

namespace logos {

/// The first operation that raised FAULT (arithmetic.md, section 2).
struct FaultSite {
  std::int64_t layer = 0;  ///< from 1; 0 outside the layers
  int line = 0;            ///< of the placeholder form
};

/// What a run gave. Outputs are `[rows, columns]`, row-major: logits of a whole cut or head, the
/// row stream of an embedding or layer.
struct Result {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> outputs;
  std::optional<FaultSite> fault;
  Timing timing;
  std::shared_ptr<const MachineMap> map = nullptr;     ///< of a machine of tiles
  std::shared_ptr<const Timeline> timeline = nullptr;  ///< where the run was asked for it
};

/// SHA-256 over the outputs as little-endian binary32, row-major.
std::string output_sha256(const Result& result);

}  // namespace logos
