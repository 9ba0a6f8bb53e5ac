#include "spatial/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/divide_up.h"
#include "program/error.h"
#include "program/genuine.h"
#include "spatial/bound.h"
#include "spatial/chip/critical_path.h"
#include "spatial/chip/fault.h"
#include "spatial/chip/run.h"
#include "spatial/lowering/check_plan.h"
#include "spatial/lowering/lowering.h"
#include "spatial/map.h"
#include "spatial/plan/plan_bytes.h"
#include "spatial/timeline.h"

namespace logos::spatial {
namespace {

constexpr std::string_view kWhere = "artifact of lane spatial";

/// What `check_inputs` asks of a program, as the plan states it.
Program program_of(const Plan& plan) {
  Program program;
  program.rows = plan.rows;
  program.is_chunk = plan.is_chunk;
  program.columns = plan.columns;
  program.vocabulary = plan.vocabulary;
  program.context = plan.capacity;
  if (plan.window != 0) program.window = plan.window;
  const auto rows = static_cast<std::size_t>(plan.rows);
  if (plan.has_tokens) program.tokens.resize(rows);
  if (plan.has_positions) program.positions.resize(rows);
  if (plan.has_given) program.operations.push_back({});  // kGiven
  for (const Stage& stage : plan.stages) {
    if (stage.kind != StageKind::kLayer || stage.text_chip != 0) continue;
    Cache declared;
    declared.name = fmt::format("keys {}", stage.layer);
    declared.layer = stage.layer;
    declared.heads = plan.key_heads;
    declared.head_columns = plan.head_columns;
    declared.one_for_each_row = !plan.is_chunk && plan.rows > 1;
    program.caches.push_back(std::move(declared));
  }
  return program;
}

/// Cycles from a row to the next in the slowest stage, as the run went: from the first end of one
/// of its blocks to the last where there are several (a short block may overtake), else the one
/// block's own; and the rows that are under way when every stage has work.
Interval interval_of(const Plan& plan, const RunReport& report) {
  Interval interval;
  Cycles through = 0;  // the first block through every stage
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const StageTime* first = nullptr;
    Cycles first_end = 0;
    Cycles last_end = 0;
    for (const StageTime& time : report.stage_times) {
      if (time.stage != static_cast<std::int32_t>(s)) continue;
      if (first == nullptr) {
        first = &time;
        first_end = time.end;
      }
      first_end = std::min(first_end, time.end);
      last_end = std::max(last_end, time.end);
    }
    if (first == nullptr) continue;
    if (stage.text_chip == 0) through += first->end - first->begin;
    const std::int64_t first_rows = std::min<std::int64_t>(plan.block_rows, stage.rows);
    const bool several = last_end > first_end;
    const Cycles taken = several ? last_end - first_end : first->end - first->begin;
    const auto rows = static_cast<Cycles>(several ? stage.rows - first_rows : first_rows);
    interval.cycles = std::max(interval.cycles, divide_up(taken, rows));
  }
  if (interval.cycles > 0) {
    interval.rows_to_fill = static_cast<std::int64_t>(divide_up(through, interval.cycles));
  }
  return interval;
}

/// Physical chips that have a stage.
std::size_t chips_used(const Plan& plan) {
  std::set<std::int32_t> chips;
  for (const Stage& stage : plan.stages) chips.insert(stage.chip);
  return chips.size();
}

Timing timing_of(const Plan& plan, const ChipConfig& config, const Inputs& inputs,
                 const RunReport& report, const CriticalPath& path) {
  Timing timing(TimeClass::kSimulated, static_cast<double>(report.cycles) / config.clock_hz);
  timing.cycles = report.cycles;
  timing.clock_hz = config.clock_hz;
  const PlanBound bound = bound_of(plan, config, inputs.positions);
  timing.bytes["sram"] = bound.weight_bytes + bound.kv_bytes;
  timing.bytes["links"] = report.link_bytes;
  timing.macs = bound.macs;
  timing.cycles_by_category = path.by_category;
  const auto cycles = static_cast<double>(std::max<Cycles>(report.cycles, 1));
  if (bound.cycles > 0) {
    timing.bound = Bound{bound.name, static_cast<double>(bound.cycles) / cycles};
  }
  const std::size_t chips = chips_used(plan);
  const double could_read = cycles * static_cast<double>(chips) * config.mesh.width *
                            config.mesh.height * config.sram_bytes_per_cycle;
  timing.chip_fraction = static_cast<double>(bound.weight_bytes + bound.kv_bytes) / could_read;
  timing.interval = interval_of(plan, report);
  if (chips > 1) timing.remark = fmt::format("{} chips", chips);
  return timing;
}

std::optional<FaultSite> fault_of(const Plan& plan, const RunReport& report) {
  if (!report.fault) return std::nullopt;
  const auto operation = static_cast<std::size_t>(*report.fault);
  return FaultSite{plan.layers[operation], plan.lines[operation]};
}

}  // namespace

SpatialLane::SpatialLane(SpatialLaneOptions options)
    : options_(std::move(options)), threads_(std::make_unique<Threads>()) {}

SpatialLane::~SpatialLane() = default;

Artifact SpatialLane::lower(std::string_view text, const Identity& asked,
                            const WeightStore& weights, const LaneConfig& config) const {
  const ChipConfig chip = parse_chip_config(config.json);
  const std::vector<Program> programs = read_genuine(text, "program", asked);
  const Plan plan = lower_programs(read_facts(text, "program"), programs, chip);
  return {std::string(name()), asked, weights.sha256(), config.sha256(), serialise_plan(plan)};
}

Result SpatialLane::run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
                        const LaneConfig& config, Inputs& inputs, const RunOptions& options) const {
  check_artifact(artifact, name(), asked, weights.sha256(), config.sha256());
  const ChipConfig chip = parse_chip_config(config.json);
  const Plan plan = parse_plan(artifact.payload, kWhere);
  check_plan(plan, chip, asked.chips, weights, kWhere);
  check_inputs(program_of(plan), inputs);

  ChipRun run;
  run.observer = options.observer;
  run.seed = options.seed;
  run.stalls = options.stalls;
  run.fill = options.fill;
  run.cycle_limit = options.cycle_limit;
  run.threads = threads_.get();
  run.link_time = options.timeline;
  for (const std::string& fault : options_.faults) plant_fault(fault, run);
  RunReport report = run_chips(plan, chip, weights, inputs, run);
  if (options_.say) {
    for (const std::string& warning : report.warnings) {
      options_.say(fmt::format("{}: {}", asked.cut, warning));
    }
  }
  const CriticalPath path = critical_path(plan, report);
  Timing timing = timing_of(plan, chip, inputs, report, path);
  auto map = std::make_shared<const MachineMap>(map_of(plan, chip, report, path));
  Result result{
      report.rows,       report.columns, std::move(report.outputs), fault_of(plan, report),
      std::move(timing), std::move(map)};
  if (options.timeline) {
    result.timeline =
        std::make_shared<Timeline>(timeline_of(plan, chip, inputs.positions, report, path));
  }
  return result;
}

}  // namespace logos::spatial
