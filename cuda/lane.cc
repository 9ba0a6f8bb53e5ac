#include "cuda/lane.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "cuda/host/executor.h"
#include "cuda/kept_observations.h"
#include "cuda/lowering.h"
#include "cuda/plan_runner.h"
#include "cuda/run_memory.h"
#include "cuda/timeline.h"
#include "program/error.h"
#include "program/genuine.h"

namespace logos::cuda {
namespace {

constexpr std::string_view kWhere = "artifact of lane cuda";
constexpr std::int64_t kMostRowColumns = std::int64_t{1} << 16;  ///< of any model
constexpr int kReplays = 21;                                     ///< of the graph, for the median

/// What `check_inputs` asks of a program, as the plan states it.
Program program_of(const Plan& plan) {
  Program program;
  program.rows = plan.rows;
  program.is_chunk = plan.is_chunk;
  program.columns = plan.columns;
  program.vocabulary = plan.vocabulary;
  program.context = plan.context;
  if (plan.window != 0) program.window = plan.window;
  const auto rows = static_cast<std::size_t>(plan.rows);
  if (plan.has_tokens) program.tokens.resize(rows);
  if (plan.has_positions) program.positions.resize(rows);
  if (plan.has_given) program.operations.push_back({});  // kGiven
  for (const PlanCache& cache : plan.caches) {
    Cache declared;
    declared.name = fmt::format("keys {}", cache.layer);
    declared.layer = cache.layer;
    declared.heads = plan.key_heads;
    declared.head_columns = plan.head_columns;
    declared.one_for_each_row = plan.each_row_caches;
    program.caches.push_back(std::move(declared));
  }
  return program;
}

void hold(bool condition, std::string_view what) {
  if (!condition) throw Error(kWhere, fmt::format("damaged plan: {}", what));
}

/// The facts of a plan that the run itself relies on. (What a launch relies on: check_launch.)
void check_plan(const Plan& plan, const Identity& asked, const CudaConfig& config,
                const Inputs& inputs) {
  hold(plan.chips == asked.chips, "another number of chips");
  hold(std::cmp_equal(plan.memory_bytes, config.gpu.memory_bytes), "another GPU's memory");
  // A count of rows that is none of the inputs' is refused before anything is sized by it.
  const std::size_t most =
      std::max({inputs.tokens.size(), inputs.positions.size(), inputs.given.size()});
  hold(plan.rows >= 1 && std::cmp_less_equal(plan.rows, most), "rows that the inputs do not have");
  hold(plan.caches.empty() || plan.has_positions, "caches without positions");
  hold(!plan.has_positions || (plan.head_columns >= 2 && plan.head_columns % 2 == 0 &&
                               plan.head_columns <= kHeadColumns),
       "columns of a head");
  hold(std::cmp_equal(plan.arenas.size(), plan.chips + 1), "memory of another number of chips");
  for (const PlanCache& cache : plan.caches) {
    hold(cache.layer >= 1 && cache.heads >= 1 && cache.first_head + cache.heads <= plan.key_heads &&
             cache.chip < plan.chips,
         "heads of a cache");
  }
  hold(plan.columns >= 1 && plan.columns <= kMostRowColumns, "columns of the rows");
  for (const PlanMatrix& matrix : plan.matrices) {
    constexpr std::int64_t kMost = std::int64_t{1} << 45;
    hold(matrix.columns >= 1 && matrix.rows <= kMost / matrix.columns, "size of a matrix");
  }
  for (const Group& group : plan.groups) {
    hold(group.steps.empty() || !group.shares.empty(), "launches of no operation");
    for (const TimeShare& share : group.shares) {
      hold(std::cmp_less(share.operation, plan.operations.size()), "a share of no operation");
    }
  }
  hold(plan.output_rows >= 1 && plan.output_rows <= plan.rows && plan.output_columns >= 1 &&
           plan.output_columns <= std::max(plan.vocabulary, plan.columns),
       "size of the outputs");
}

/// The numbers of each step, before memory is sized by them. (Their extents: PlanRunner.)
void check_steps(const Plan& plan, const RunShape& run) {
  for (const Group& group : plan.groups) {
    for (const Step& step : group.steps) {
      hold(step.chip < plan.chips, "a step of no chip");
      check_step(step, plan, run, kWhere, [](const Reference&, std::int64_t, bool) {});
    }
  }
}

RunShape run_shape(const Inputs& inputs) {
  RunShape run;
  for (const std::int64_t position : inputs.positions) {
    run.positions.push_back(static_cast<std::int32_t>(position - 1));
    run.reach = std::max(run.reach, position);
  }
  if (run.reach > (std::int64_t{1} << 30)) {
    throw Error("inputs", "positions too far", fmt::to_string(run.reach), "2^30 at most");
  }
  return run;
}

HostOptions host_options(const CudaLaneOptions& lane, const RunOptions& options) {
  HostOptions host;
  host.executor.seed = options.seed;
  host.executor.mix_warps = lane.check;
  host.check_addresses = lane.check;
  if (options.fill) {
    host.memory_fill = *options.fill;
    host.executor.shared_fill = static_cast<std::uint8_t>(*options.fill & 0xFF);
  }
  return host;
}

/// A host that plays a GPU with more memory than it has says so before it starts.
void check_host_memory(const Plan& plan, const RunShape& run) {
  const std::int64_t physical = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const MemoryNeed need = memory_need(plan, run.reach);
  const std::int64_t own = need.caches + need.activations;  // weights lie in the store
  if (own > physical) {
    throw Error("cuda: memory of this host, which runs the kernels",
                fmt::format("too small for {} bytes of caches and {} of activations", need.caches,
                            need.activations),
                fmt::format("{} bytes", physical), fmt::format("{} bytes", own));
  }
}

}  // namespace

CudaConfig parse_cuda_config(std::string_view text) {
  CudaConfig config;
  auto root = nlohmann::json::parse(text, nullptr, false);
  if (root.is_object() && root.contains("gemm_rows")) {
    const auto& rows = root["gemm_rows"];
    if (!rows.is_number_unsigned() || rows.get<std::uint64_t>() == 0 ||
        rows.get<std::uint64_t>() > (std::uint64_t{1} << 31)) {
      throw Error("gpu configuration", "key gemm_rows", rows.dump(), "1 to 2^31");
    }
    config.gemm_rows = rows.get<std::int64_t>();
    root.erase("gemm_rows");
    config.gpu = parse_gpu_config(root.dump(), "gpu configuration");
    return config;
  }
  config.gpu = parse_gpu_config(text, "gpu configuration");
  return config;
}

void CudaLane::with_machine_of_lane(const WeightStore& weights, const RunOptions& options,
                                    const MachineKeeper::Work& work) const {
  MachineKeeper::Request request;
  request.device = options_.host_only ? nullptr : &options_.device;
  request.host = host_options(options_, options);
  request.copy_weights = options_.check;
  request.weights_sha256 = weights.sha256();
  try {
    keeper_.run(request, work, [&](const std::string& line) {
      if (options_.say) std::call_once(said_, [&] { options_.say(line); });
    });
  } catch (const std::bad_alloc&) {
    throw Error("cuda", "no memory on this host for the kernels' buffers");
  }
}

Artifact CudaLane::lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                         const LaneConfig& config) const {
  const CudaConfig parsed = parse_cuda_config(config.json);
  const std::vector<Program> programs = read_genuine(text, "program", asked);
  LoweringOptions options;
  options.memory_bytes = static_cast<std::int64_t>(parsed.gpu.memory_bytes);
  options.gemm_rows = parsed.gemm_rows;
  const Plan plan = lower_programs(programs, options);
  // A chunk's cache belongs to the run, which checks again; here: the least that it can be.
  check_memory(plan, plan.context.value_or(plan.rows));
  return {std::string(name()), asked, weights.sha256(), config.sha256(), serialise_plan(plan)};
}

Result CudaLane::run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
                     const LaneConfig& config, Inputs& inputs, const RunOptions& options) const {
  check_artifact(artifact, name(), asked, weights.sha256(), config.sha256());
  const CudaConfig parsed = parse_cuda_config(config.json);
  const Plan plan = parse_plan(artifact.payload, kWhere);
  check_plan(plan, asked, parsed, inputs);
  check_inputs(program_of(plan), inputs);
  const RunShape run = run_shape(inputs);
  check_steps(plan, run);
  check_memory(plan, run.reach);

  PlanOutputs outputs;
  std::optional<Timing> timing;
  std::shared_ptr<const Timeline> timeline;
  KeptObservations kept;
  const auto work = [&](Machine& machine, WeightMemory& weight_memory) {
    const bool on_host = machine.time_class() == TimeClass::kModelled;
    if (on_host) check_host_memory(plan, run);
    kept.clear();
    Observer* observer = options.observer;
    if (observer != nullptr && !on_host) observer = &kept;  // the GPU may yet fail
    RunMemory memory(machine, weight_memory, plan, weights, inputs, run, observer != nullptr);
    PlanRunner runner(machine, plan, memory, run, observer);
    outputs = runner.run();
    const std::vector<LaunchRecord> records = machine.records();
    const auto seconds = machine.median_seconds([&] { runner.replay(); }, kReplays);
    timing = seconds ? measured_timing(*seconds, records, outputs.macs, parsed.gpu)
                     : modelled_timing(records, outputs.macs, parsed.gpu);
    if (options.timeline) {
      timeline = std::make_shared<Timeline>(
          timeline_of(plan, records, outputs.launches, parsed.gpu, *timing));
    }
  };
  with_machine_of_lane(weights, options, work);
  if (options.observer != nullptr) kept.hand_over(*options.observer);
  push_caches(plan, outputs.pushed, run, inputs.caches);
  Result result{plan.output_rows, plan.output_columns, std::move(outputs.outputs), outputs.fault,
                *timing};
  result.timeline = std::move(timeline);
  return result;
}

}  // namespace logos::cuda
