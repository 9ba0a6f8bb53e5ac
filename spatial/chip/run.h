#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/inputs.h"
#include "sim/observer.h"
#include "sim/weights/store.h"
#include "spatial/chip/process.h"
#include "spatial/chip/report.h"
#include "spatial/chip/transport.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// A tile does not wait for a buffer that it should wait for: the first such chance from a cycle
/// on.
struct EarlyRead {
  std::int32_t chip = 0;
  Node node = 0;
  Cycles from = 0;
};

/// How a run goes. None of it changes a bit of what a run without faults gives.
struct ChipRun {
  Observer* observer = nullptr;
  std::uint64_t seed = 1;
  bool stalls = false;                ///< links close and units dawdle now and then, by seed
  std::optional<std::uint32_t> fill;  ///< what unused memory holds, 32 bits repeated
  std::optional<Cycles> cycle_limit;  ///< reached: Error
  std::vector<std::optional<MeshFault>> mesh_faults;  ///< [chip]; may be shorter
  std::optional<EarlyRead> early_read;
  bool link_time = false;      ///< fill RunReport::link_time
  MeshMaker mesh;              ///< left empty: the configuration's model
  Threads* threads = nullptr;  ///< kept from run to run; null: of this run alone
};

/// Runs a plan: tiles in SystemC's simulated time, which begins at 0 for this run. Writes what the
/// program pushes into `inputs.caches`. The inputs are those of the plan's program (check_inputs).
/// Throws Error for positions that the tiles cannot hold, for a fault that a full/empty bit or the
/// end of the run finds, where nothing can go on any more (with who waits for whom), and for the
/// cycle limit.
RunReport run_chips(const Plan& plan, const ChipConfig& config, const WeightStore& weights,
                    Inputs& inputs, const ChipRun& options);

}  // namespace logos::spatial
