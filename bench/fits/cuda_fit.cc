#include <algorithm>

#include "bench/configurations.h"
#include "bench/fits/fit.h"
#include "cuda/lane.h"
#include "cuda/launches.h"
#include "cuda/lowering.h"
#include "cuda/run_memory.h"
#include "program/genuine.h"
#include "program/written.h"

namespace logos::bench {
namespace {

cuda::RunShape shape_of(const Cut& cut) {
  cuda::RunShape run;
  for (const std::int64_t position : timed_positions(cut)) {
    run.positions.push_back(static_cast<std::int32_t>(position - 1));
    run.reach = std::max(run.reach, position);
  }
  return run;
}

Fit fit_on(const cuda::CudaConfig& config, const ModelSpec& spec, const Cut& cut,
           std::int64_t chips) {
  const Written written = written_split(spec, cut, chips);
  const auto there_is = static_cast<std::int64_t>(config.gpu.memory_bytes);
  const cuda::Plan plan = cuda::lower_programs(
      read_genuine(written.text, "program", written.identity), {there_is, config.gemm_rows});
  const cuda::RunShape run = shape_of(cut);
  const cuda::MemoryNeed need = cuda::memory_need(plan, run.reach);
  Fit fit;
  fit.memories = {{"GPU memory", "bytes", need.all(), there_is},
                  {"  of it weights", "bytes", need.weights, there_is},
                  {"  of it caches", "bytes", need.caches, there_is},
                  {"  of it activations", "bytes", need.activations, there_is}};
  std::uint64_t bytes = 0;
  std::uint64_t macs = 0;
  std::size_t launches = 0;
  for (const cuda::Group& group : plan.groups) {
    for (const cuda::Step& step : group.steps) {
      for (const cuda::PlannedLaunch& launch : cuda::launches_of(step, run)) {
        bytes += launch.traffic.bytes();
        macs += launch.macs;
        ++launches;
      }
    }
  }
  const cuda::LeastTime least = cuda::least_time(bytes, macs, launches, config.gpu);
  fit.bound = least.name;
  fit.bound_seconds = least.seconds;
  if (chips > 1) fit.notes = {"all chips of a program stand on one GPU"};
  return fit;
}

}  // namespace

FitLane cuda_fit(const Options& options) {
  const LaneConfig config =
      cuda::load_gpu_config(configuration_file(kGpus, options.gpu), options.gpu_settings);
  return {"cuda", [config = cuda::parse_cuda_config(config.json)](
                      const ModelSpec& spec, const Cut& cut, std::int64_t chips) {
            return fit_on(config, spec, cut, chips);
          }};
}

}  // namespace logos::bench
