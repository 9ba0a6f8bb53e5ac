#include "rtl/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <utility>

#include "program/error.h"
#include "program/genuine.h"
#include "rtl/board/fault.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/plan_runner.h"
#include "rtl/lowering/check_plan.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/observed.h"
#include "rtl/lowering/traffic.h"
#include "rtl/timeline.h"

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

BoardOptions board_options(const RunOptions& options, std::size_t index) {
  BoardOptions board;
  board.seed = options.seed + index;
  board.stalls_of_256 = options.stalls ? kStallsOf256 : 0;
  board.check_ports = options.stalls;
  if (options.fill) board.fill.word = *options.fill;
  return board;
}

/// Boards made for a run, and their drivers.
class SimulatedBoards {
 public:
  SimulatedBoards(const D5005LaneOptions& lane, const D5005Config& config, const Plan& plan,
                  const RunOptions& options) {
    for (std::size_t b = 0; b < plan.boards.size(); ++b) {
      BoardOptions own = board_options(options, b);
      if (options.timeline) own.log = logs_.emplace_back(std::make_shared<EngineLog>());
      if (b == 0) {
        for (const std::string& fault : lane.faults) plant_fault(fault, own);
      }
      SimTransport& transport = transports_.emplace_back(
          b == 0 && lane.make_first ? lane.make_first(plan, config, own)
                                    : make_board(config.rows, config.mac_rows, config.board, own));
      pointers_.push_back(&drivers_.emplace_back(transport, plan.engine));
    }
  }
  std::span<Driver* const> drivers() const { return pointers_; }
  /// One a board, where a timeline is asked for.
  std::span<const std::shared_ptr<EngineLog>> logs() const { return logs_; }

 private:
  std::deque<SimTransport> transports_;
  std::deque<Driver> drivers_;
  std::vector<std::shared_ptr<EngineLog>> logs_;
  std::vector<Driver*> pointers_;
};

/// Which of the engines' two peaks a run came nearest to.
Bound bound_of(const Plan& plan, const Traffic& traffic, const RunCounters& counters,
               const BoardParameters& board) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t of_bank : traffic.ddr) bytes += of_bank;
  const double cycles = static_cast<double>(std::max<std::uint64_t>(counters.cycles, 1)) *
                        static_cast<double>(plan.boards.size());
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
  timing.bytes["host"] = outcome.outputs.size() * sizeof(float) + outcome.exchanged_bytes;
  timing.macs = traffic.macs;
  timing.cycles_by_category = counters.by_category;
  timing.bound = bound_of(plan, traffic, counters, board);
  if (plan.boards.size() > 1) {
    timing.remark =
        fmt::format("{} boards in step, exchanges through the host by DMA", plan.boards.size());
  }
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

using RunOnBoards = std::function<PlanOutcome(const Plan&, Inputs&)>;

/// Runs the plan again, with stores between its instructions, and shows what they stored. Its time
/// is not that of the run, its outputs are (null: a board with a fault owes none).
void show(const Plan& plan, const Inputs& inputs, const std::vector<float>* outputs,
          const RunOnBoards& run, Observer& observer) {
  const ObservedPlan observed = observe(plan, inputs.positions);
  std::vector<std::vector<std::byte>> buffers;
  for (const Plan& part : observed.runs) {
    Inputs with = inputs;
    PlanOutcome outcome = run(part, with);
    if (outputs != nullptr && std::memcmp(outcome.outputs.data(), outputs->data(),
                                          outputs->size() * sizeof(float)) != 0) {
      throw Error("d5005", "a run that is observed gives other outputs than one that is not");
    }
    for (auto& buffer : outcome.buffers) buffers.push_back(std::move(buffer));
  }
  hand_over(observed, buffers, inputs, observer);
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

  const Inputs before = inputs;
  std::shared_ptr<const Timeline> timeline;
  const auto run_on_boards = [&](const Plan& of, Inputs& with) {
    D5005LaneOptions lane = options_;
    RunOptions own = options;
    if (&of != &plan) {  // a run that is observed is not recorded
      lane.make_first = nullptr;
      own.timeline = false;
    }
    SimulatedBoards boards(lane, parsed, of, own);
    PlanRunOptions run_options;
    run_options.fill = static_cast<std::byte>(options.fill.value_or(0) & 0xFF);
    run_options.cycle_limit = options.cycle_limit;
    run_options.keep_buffers = &of != &plan;
    PlanOutcome outcome = run_plan(of, boards.drivers(), weights, asked, with, run_options);
    if (own.timeline) {
      timeline = std::make_shared<Timeline>(
          timeline_of(of, parsed.board, traffic_of(of, before), outcome, boards.logs()));
    }
    return outcome;
  };
  const PlanOutcome outcome = run_on_boards(plan, inputs);
  if (options.observer != nullptr) {
    show(plan, before, options_.faults.empty() ? &outcome.outputs : nullptr, run_on_boards,
         *options.observer);
  }
  Result result{plan.output_rows, plan.output_columns, outcome.outputs,
                fault_of(plan, outcome.counters), timing_of(plan, before, outcome, parsed.board)};
  result.timeline = std::move(timeline);
  return result;
}

}  // namespace logos::d5005
