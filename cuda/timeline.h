#pragma once

#include <span>

#include "cuda/plan.h"
#include "cuda/plan_runner.h"
#include "cuda/time_model.h"
#include "sim/timeline.h"

namespace logos::cuda {

/// The launches of a run end to end, as the time model has them: per chip a track of kernels, one
/// of program lines, and the bandwidth of its memory. A fused launch is divided among its lines by
/// Group::shares. The times of a GPU are measured as a whole: there each launch has its share of
/// that by the model, which `sampling` says.
Timeline timeline_of(const Plan& plan, std::span<const LaunchRecord> records,
                     std::span<const LaunchOrigin> origins, const GpuConfig& gpu,
                     const Timing& timing);

}  // namespace logos::cuda
