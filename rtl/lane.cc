#include "rtl/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/error.h"
#include "program/genuine.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/plan_runner.h"
#include "rtl/lowering/check_plan.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/traffic.h"

namespace logos::d5005 {
namespace {

constexpr std::string_view kWhere = "artifact of lane d5005";
constexpr std::uint32_t kStallsOf256 = 48;  // how often a channel waits where --stalls asks for it

EngineSize size_of(const D5005Config& config) {
  EngineSize size = engine_size(config.rows, config.mac_rows);
  const std::uint64_t lines = config.board.ddr4.bytes() / 64;
  size.super_beats = std::min(size.super_beats, static_cast<std::int64_t>(lines));
  return size;
}

/// What `check_inputs` asks of a program, as the plan states it.
Program program_of(const Plan& plan) {
  Program program;
  program.rows = plan.rows;
  program.is_chunk = plan.is_chunk;
  program.columns = plan.columns;
  program.vocabulary = plan.vocabulary;
  program.context = plan.context;
  const auto rows = static_cast<std::size_t>(plan.rows);
  if (plan.has_tokens) program.tokens.resize(rows);
  if (plan.has_positions) program.positions.resize(rows);
  if (plan.has_given) program.operations.push_back({});  // kGiven
  for (const CacheItem& cache : plan.boards.front().caches) {
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

void check_reach(const Plan& plan, const Inputs& inputs) {
  if (plan.boards.front().caches.empty()) return;
  const std::int64_t reach = *std::max_element(inputs.positions.begin(), inputs.positions.end());
  if (reach > plan.capacity) {
    throw Error("d5005: positions", "more than the caches hold", fmt::to_string(reach),
                fmt::format("{} at most", plan.capacity));
  }
}

BoardOptions board_options(const RunOptions& options) {
  BoardOptions board;
  board.seed = options.seed;
  board.stalls_of_256 = options.stalls ? kStallsOf256 : 0;
  if (options.fill) board.fill.word = *options.fill;
  return board;
}

/// Which of the engine's two peaks a run came nearest to.
Bound bound_of(const Plan& plan, const Traffic& traffic, const RunCounters& counters,
               const BoardParameters& board) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t of_bank : traffic.ddr) bytes += of_bank;
  const double cycles = static_cast<double>(std::max<std::uint64_t>(counters.cycles, 1));
  const double beats_a_cycle = board.clocks.bank_mhz / board.clocks.engine_mhz;
  const Bound memory{"ddr", static_cast<double>(bytes) / (256 * beats_a_cycle * cycles)};
  const Bound array{"mac_array", static_cast<double>(traffic.weight_macs) /
                                     (256 * static_cast<double>(plan.engine.mac_rows) * cycles)};
  return memory.fraction >= array.fraction ? memory : array;
}

Timing timing_of(const Plan& plan, const Inputs& inputs, const PlanOutcome& outcome,
                 const BoardParameters& board) {
  const double hz = board.clocks.engine_mhz * 1e6;
  const RunCounters& counters = outcome.counters;
  Timing timing(TimeClass::kRtl, static_cast<double>(counters.cycles) / hz);
  timing.cycles = counters.cycles;
  timing.clock_hz = hz;
  const Traffic traffic = traffic_of(plan, inputs);
  for (std::size_t b = 0; b < traffic.ddr.size(); ++b) {
    timing.bytes[fmt::format("ddr{}", b)] = traffic.ddr[b];
  }
  timing.bytes["host"] = outcome.host_bytes;
  timing.macs = traffic.macs;
  timing.cycles_by_category = counters.by_category;
  timing.bound = bound_of(plan, traffic, counters, board);
  return timing;
}

std::optional<FaultSite> fault_of(const Plan& plan, const RunCounters& counters) {
  if (!counters.fault_line) return std::nullopt;
  if (*counters.fault_line >= plan.lines.size()) {
    throw Error(kWhere, "damaged plan: FAULT of an operation that is none",
                fmt::to_string(*counters.fault_line), fmt::format("below {}", plan.lines.size()));
  }
  const PlanLine& line = plan.lines[*counters.fault_line];
  return FaultSite{line.layer, static_cast<int>(line.line)};
}

}  // namespace

Artifact D5005Lane::lower(std::string_view text, const Identity& asked, const WeightStore& weights,
                          const LaneConfig& config) const {
  const D5005Config parsed = parse_d5005_config(config.json);
  const std::vector<Program> programs = read_genuine(text, "program", asked);
  const Plan plan = lower_programs(programs, size_of(parsed));
  return {std::string(name()), asked, weights.sha256(), config.sha256(), serialise_plan(plan)};
}

Result D5005Lane::run(const Artifact& artifact, const Identity& asked, const WeightStore& weights,
                      const LaneConfig& config, Inputs& inputs, const RunOptions& options) const {
  check_artifact(artifact, name(), asked, weights.sha256(), config.sha256());
  const D5005Config parsed = parse_d5005_config(config.json);
  const Plan plan = parse_plan(artifact.payload, kWhere);
  check_plan(plan, size_of(parsed), asked.chips, weights, kWhere);
  check_inputs(program_of(plan), inputs);
  check_reach(plan, inputs);

  SimTransport transport(
      make_board(parsed.rows, parsed.mac_rows, parsed.board, board_options(options)));
  Driver driver(transport, plan.engine);
  PlanRunOptions run_options;
  run_options.fill = static_cast<std::byte>(options.fill.value_or(0) & 0xFF);
  run_options.cycle_limit = options.cycle_limit;
  const Inputs before = inputs;
  const PlanOutcome outcome = run_plan(plan, driver, weights, asked, inputs, run_options);
  return {plan.output_rows, plan.output_columns, outcome.outputs, fault_of(plan, outcome.counters),
          timing_of(plan, before, outcome, parsed.board)};
}

}  // namespace logos::d5005
