#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "cuda/device.h"
#include "cuda/machine_keeper.h"
#include "cuda/plan.h"
#include "cuda/time_model.h"
#include "sim/lane.h"

namespace logos::cuda {

/// How a lane finds its machine. None of it changes a bit.
struct CudaLaneOptions {
  DeviceOptions device;
  bool host_only = false;  ///< do not look for a GPU
  /// The host looks up every address, copies the weights into guarded memory and mixes the threads
  /// of all warps (slow; for tests).
  bool check = false;
  /// Receives the one line which way a run goes and why. Called once a lane.
  std::function<void(const std::string&)> say;
};

/// The lane's own reading of its configuration: that of a GPU (cuda/time_model.h), and optionally
/// `gemm_rows`: from so many rows on, products take the tensor cores (9 when left out).
struct CudaConfig {
  GpuConfig gpu;
  std::int64_t gemm_rows = 9;
};
CudaConfig parse_cuda_config(std::string_view text);

/// Runs programs as CUDA kernels: on a GPU where there is one, else on this host.
class CudaLane : public Lane {
 public:
  explicit CudaLane(CudaLaneOptions options = {}) : options_(std::move(options)) {}

  std::string_view name() const override { return "cuda"; }
  Artifact lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                 const LaneConfig& config) const override;
  Result run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
             const LaneConfig& config, Inputs& inputs, const RunOptions& options) const override;

 private:
  void with_machine_of_lane(const WeightStore& weights, const RunOptions& options,
                            const MachineKeeper::Work& work) const;

  CudaLaneOptions options_;
  mutable std::once_flag said_;
  mutable MachineKeeper keeper_;  // no run sees what another left in it
};

}  // namespace logos::cuda
