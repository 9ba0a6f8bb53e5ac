#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cuda/machine.h"
#include "sim/lane.h"
#include "sim/timing.h"

namespace logos::cuda {

/// The file under configs/gpus that is taken where none is asked for.
inline constexpr std::string_view kDefaultGpu = "h100-sxm.json";

/// A GPU as the time model sees it. Rates are peaks; an efficiency says which fraction of a peak a
/// good kernel reaches. configs/gpus/*.json hold them, each number with its source.
struct GpuConfig {
  std::string name;
  double clock_mhz = 0;
  std::uint64_t multiprocessors = 0;
  std::uint64_t max_threads = 0;  ///< resident on a multiprocessor
  std::uint64_t max_blocks = 0;   ///< likewise
  std::uint64_t memory_bytes = 0;
  double hbm_gb_per_s = 0;
  double hbm_efficiency = 0;
  std::uint64_t l2_bytes = 0;
  double int8_tensor_tops = 0;  ///< 10^12 operations a second, two a multiply-add, dense
  double int8_tensor_efficiency = 0;
  std::uint64_t dp4a_per_clock = 0;  ///< on a multiprocessor; four multiply-adds each
  double dp4a_efficiency = 0;
  std::uint64_t fp32_per_clock = 0;  ///< operations on a multiprocessor, a fused one counted once
  double fp32_efficiency = 0;
  double barrier_ns = 0;  ///< one block barrier
  double launch_us = 0;   ///< from the end of a kernel to the start of the next in a graph
};

/// Throws Error naming the key that is missing, unknown, of another type or out of range.
/// `where` names the text.
GpuConfig parse_gpu_config(std::string_view text, std::string_view where);

/// KEY and VALUE of `--set gpu.KEY=VALUE`, without `gpu.`.
using Setting = std::pair<std::string, std::string>;

/// The lane configuration of a file with settings applied: canonical JSON that parse_gpu_config
/// takes. A setting's source becomes "--set". Throws Error for an unknown key or a bad value.
LaneConfig load_gpu_config(const std::filesystem::path& file, std::span<const Setting> settings);
/// The same from text.
LaneConfig apply_settings(std::string_view text, std::string_view where,
                          std::span<const Setting> settings);

/// What the time model gives one launch: its kernel with its barriers, and the gap to the next.
struct LaunchSeconds {
  double kernel = 0;
  double gap = 0;
};
LaunchSeconds launch_seconds(const LaunchRecord& launch, const GpuConfig& gpu);

/// Multiply-adds of the model that a second allows at most. One has an operand of 16 bits: two
/// products of 8 bits, or four operations of those that a data sheet counts. Of the tensor cores,
/// or of dp4a on a GPU where that is faster.
double peak_macs_per_second(const GpuConfig& gpu);

/// What no run of some launches can beat, and what it is that binds.
struct LeastTime {
  std::string name;  ///< "hbm", "int8" or "launch"
  double seconds = 0;
};

/// The greatest of `bytes` (useful ones) over the peak of the HBM, `macs` (of the model) over
/// peak_macs_per_second and `launches` gaps. A run's bound and `bench fits` both take it from here.
LeastTime least_time(std::uint64_t bytes, std::uint64_t macs, std::size_t launches,
                     const GpuConfig& gpu);

/// What the launches would take on the GPU: per launch the greatest of bytes, products and binary32
/// operations over their rates, then its barriers, then the gap to the next launch. Class
/// kModelled. Bytes are those declared, each once, and again those that tiles of rows after the
/// first wave of blocks read again where the weights, or keys and values, are larger than the
/// second-level cache. Operations and barriers are those that the executor counted; where a launch
/// was not counted, the declared ones and no barriers. `macs`: of the model.
Timing modelled_timing(std::span<const LaunchRecord> launches, std::uint64_t macs,
                       const GpuConfig& gpu);

/// What a GPU took (Machine::median_seconds) for these launches. Class kMeasured; the bound is that
/// of `gpu`, if the configuration is of that GPU.
Timing measured_timing(double seconds, std::span<const LaunchRecord> launches, std::uint64_t macs,
                       const GpuConfig& gpu);

}  // namespace logos::cuda
