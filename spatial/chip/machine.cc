#include "spatial/chip/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "program/check.h"
#include "program/error.h"
#include "spatial/chip/link_samples.h"
#include "spatial/chip/sequencer.h"
#include "spatial/network/stand_on.h"
#include "spatial/tile/attention.h"

namespace logos::spatial {
namespace {

/// Lines joined by semicolons: a message is one line.
std::string in_one_line(const std::string& lines) {
  std::string text;
  for (const char c : lines) {
    if (c == '\n') {
      text += "; ";
    } else {
      text += c;
    }
  }
  return text.substr(0, text.find_last_not_of("; ") + 1);
}

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::vector<bool> chips_used(const Plan& plan) {
  std::vector<bool> used(at(plan.chips));
  for (const Stage& stage : plan.stages) used[at(stage.chip)] = true;
  return used;
}

TransportOptions transport_options(const ChipRun& options) {
  return {options.seed, options.stalls, options.mesh_faults};
}

}  // namespace

StageRun::StageRun(const Plan& plan, int index_of, const ChipConfig& config,
                   const WeightStore& weights)
    : stage(plan.stages[at(index_of)]),
      index(index_of),
      map(stage, plan.head_columns, config.mesh) {
  for (const StageMatrix& matrix : stage.matrices) {
    const MatrixView& view = matrices.emplace_back(weights.matrix(matrix.tensor));
    check_profile(view, stage.profile, fmt::format("spatial: weights {}", matrix.tensor));
    if (view.rows == matrix.rows && view.columns == matrix.columns) continue;
    throw Error(fmt::format("spatial: weights {}", matrix.tensor), "another shape",
                fmt::format("{} x {}", view.rows, view.columns),
                fmt::format("{} x {}", matrix.rows, matrix.columns));
  }
  for (const StageVector& vector : stage.vectors) {
    const auto& view = vectors.emplace_back(weights.vector(vector.tensor));
    if (view.size() == at(vector.size)) continue;
    throw Error(fmt::format("spatial: weights {}", vector.tensor), "another size",
                fmt::to_string(view.size()), fmt::to_string(vector.size));
  }
  begin.resize(at(blocks_of(plan, stage)));
  end.resize(begin.size());
}

Machine::Machine(const Plan& plan_of, const ChipConfig& config_of, const WeightStore& weights,
                 Inputs& inputs, const ChipRun& options_of)
    : plan(plan_of),
      config(config_of),
      options(options_of),
      threads(options_of.threads != nullptr ? *options_of.threads : own_threads_),
      transport(
          config_of, chips_used(plan_of), transport_options(options_of),
          options_of.mesh ? options_of.mesh : mesh_maker(config_of),
          [this](std::int32_t chip, Node node, const MessagePart& part) {
            deliver(chip, node, part);
          },
          [this](std::int32_t chip, Node node) { drained(chip, node); }),
      collector(plan_of, options_of.observer),
      weights_(weights),
      inputs_(inputs) {
  if (plan.head_columns > 0) isq = inverse_root(plan.head_columns);
  if (plan.has_positions) {
    rotary_ = rotary_table(plan.rotary, plan.head_columns, inputs.positions);
  }
  for (std::int64_t chip = 0; chip < plan.chips; ++chip) {
    auto& tiles = tiles_.emplace_back();
    for (Node node = 0; node < config.mesh.width * config.mesh.height; ++node) {
      tiles.emplace_back(config.sram_bytes_per_cycle).random =
          options.seed * 1000003 + at(chip) * 65537 + at(node);
    }
  }
  for (std::size_t i = 0; i < plan.stages.size(); ++i) add_stage(static_cast<int>(i));
  link_senders();
  report_.rows = plan.output_rows;
  report_.columns = plan.output_columns;
  report_.outputs.resize(at(plan.output_rows * plan.output_columns));
}

Machine::~Machine() = default;

void Machine::add_stage(int index) {
  auto& run = *stages_.emplace_back(std::make_unique<StageRun>(plan, index, config, weights_));
  const Stage& stage = run.stage;
  if (plan.has_positions) {
    const auto first = inputs_.positions.end() - stage.rows;  // a chunk's head has the last row
    run.positions.assign(first, inputs_.positions.end());
  }
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    run.tiles.push_back(std::make_unique<TileState>(plan, stage, run.map, tile, run.positions,
                                                    options.fill.value_or(0)));
    auto& slots = run.sequencers.emplace_back();
    for (std::int32_t slot = 0; slot < slots_of(plan, stage); ++slot) {
      const auto id = static_cast<std::int32_t>(sequencers_.size());
      sequencers_.push_back(std::make_unique<Sequencer>(*this, run, tile, slot, id));
      slots.push_back(sequencers_.back().get());
      this->tile(stage.chip, run.map.tiles[at(tile)].node).sequencers.push_back(slots.back());
    }
  }
}

void Machine::link_senders() {
  for (const auto& run : stages_) {
    for (const int next : run->stage.next) stage(next).senders.push_back(run->index);
  }
}

Cycles Machine::now() const { return Wakeup::now() - epoch_; }

void Machine::deliver(std::int32_t chip, Node node, const MessagePart& part) {
  if (error_) return;
  try {
    StageRun& run = stage(part.message->stage);
    const auto& nodes = *part.message->nodes;
    if (chip != run.stage.chip || !std::binary_search(nodes.begin(), nodes.end(), node)) {
      throw Error(fmt::format("spatial: tile {} of chip {}", node, chip),
                  "a packet arrives that is for another tile",
                  fmt::format("stage {} of chip {}", run.index, run.stage.chip),
                  fmt::format("tiles {}", fmt::join(nodes, ", ")));
    }
    receive(run, run.map.tile_at(node), part);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Machine::receive(StageRun& run, std::int32_t tile, const MessagePart& part) {
  const Message& message = *part.message;
  TileState& state = *run.tiles[at(tile)];
  auto& sequencers = run.sequencers[at(tile)];
  const std::int64_t bytes = part.end - part.begin;
  ChipTile& place = this->tile(run.stage.chip, state.map().node);
  const Cycles ready = place.port.access(Wakeup::now(), bytes) - epoch_;
  bool news = true;
  switch (message.kind) {
    case MessageKind::kData:
      news = bytes > 0 && state.write(message, part.begin, part.end, ready);
      break;
    case MessageKind::kCache:
      // Later blocks wait for these, too.
      if (state.write_cache(message, part.begin, part.end, ready)) {
        for (Sequencer* sequencer : sequencers) sequencer->wake();
      }
      return;
    case MessageKind::kCredit: {
      const auto& next = run.stage.next;
      const auto from = std::find(next.begin(), next.end(), message.from_stage);
      Fill& credit = state.credits[at(from - next.begin())];
      credit.got += 1;
      credit.last = message.origin;
      for (Sequencer* sequencer : sequencers) sequencer->wake();
      return;
    }
    case MessageKind::kDone:
      state.done[at(message.block)] += 1;
      state.done_origin[at(message.block)] = message.origin;
      for (Sequencer* sequencer : sequencers) sequencer->wake();
      return;
  }
  if (news) sequencers[at(message.block) % sequencers.size()]->wake();
}

void Machine::drained(std::int32_t chip, Node node) {
  for (Sequencer* sequencer : tile(chip, node).sequencers) sequencer->wake();
}

void Machine::entry_freed(StageRun& run, std::int32_t block, const Origin& by) {
  const bool by_host =
      std::find(plan.first.begin(), plan.first.end(), run.index) != plan.first.end();
  if (!by_host || block + 1 >= blocks_of(plan, run.stage)) return;
  feed(run, block + 1, by);
  auto& sequencers = run.sequencers[at(run.stage.leader)];
  sequencers[at(block + 1) % sequencers.size()]->wake();
}

void Machine::raise_fault(int operation) {
  if (!report_.fault || operation < *report_.fault) report_.fault = operation;
}

void Machine::show(std::int64_t row, std::int64_t column, std::span<const float> values) {
  std::copy(values.begin(), values.end(),
            report_.outputs.begin() + row * plan.output_columns + column);
}

void Machine::result_ready(StageRun& run, std::int32_t block) {
  run.end[at(block)] = std::max(run.end[at(block)], now());
}

bool Machine::reads_early(std::int32_t chip, Node node) {
  const auto& planted = options.early_read;
  if (!planted || read_early_ || planted->chip != chip || planted->node != node) return false;
  if (now() < planted->from) return false;
  read_early_ = true;
  return true;
}

void Machine::fail(std::exception_ptr error) {
  if (error_) return;
  error_ = std::move(error);
  for (const auto& sequencer : sequencers_) sequencer->stop();
}

void Machine::check_faults() const {
  const Node nodes = config.mesh.width * config.mesh.height;
  if (options.early_read && options.early_read->node >= nodes) {
    throw Error("--fault", "no such tile", fmt::format("tile{}", options.early_read->node),
                fmt::format("tile0 to tile{}", nodes - 1));
  }
  if (options.mesh_faults.size() > at(plan.chips)) {
    throw Error("--fault", "no such chip", fmt::format("mesh{}", options.mesh_faults.size() - 1),
                fmt::format("mesh0 to mesh{}", plan.chips - 1));
  }
}

RunReport Machine::run() {
  check_faults();
  load_caches();
  // All runs of a process share the kernel and its time.
  if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  threads.reserve(sequencers_.size());
  epoch_ = Wakeup::now();
  for (const int first : plan.first) feed(stage(first), 0, {});
  for (const auto& sequencer : sequencers_) sequencer->start();
  simulate();
  if (error_) std::rethrow_exception(error_);
  check_end();
  store_caches();
  collect();
  return std::move(report_);
}

void Machine::simulate() {
  const Cycles limit = options.cycle_limit.value_or(std::numeric_limits<std::int64_t>::max() / 4);
  advance(limit + 1);
  if (sc_core::sc_pending_activity()) {
    if (who_waits().empty()) {  // the last credits are on their way back
      spatial::simulate();
      return;
    }
    fail(std::make_exception_ptr(Error("spatial: the run", "cycle limit reached before its end",
                                       fmt::format("more than {} cycles", limit),
                                       fmt::format("{} at most", limit))));
  }
  unwind();
}

/// Lets so many cycles pass, or fewer where nothing is left to do. What would happen in the last of
/// them is left out, as the kernel leaves it out. Looks at the links now and then where asked to.
void Machine::advance(Cycles cycles) {
  LinkSamples samples;
  while (cycles > 0) {
    const Cycles stretch = options.link_time ? std::min(cycles, samples.stretch()) : cycles;
    // To the end of a stretch in which nothing happens, too.
    sc_core::sc_start(sc_core::sc_time::from_value(stretch),
                      options.link_time ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
    stand_on_own();
    cycles -= stretch;
    if (options.link_time) samples.take(transport.link_loads(), transport.chip_link_loads());
    if (!sc_core::sc_pending_activity()) break;
  }
  if (options.link_time) report_.link_time = samples.taken();
}

/// Lets the sequencers end that an error has stopped.
void Machine::unwind() {
  if (error_) spatial::simulate();
}

std::string Machine::who_waits() const {
  std::string lines;
  int count = 0;
  for (const auto& sequencer : sequencers_) {
    if (sequencer->ended()) continue;
    if (++count <= 20) lines += sequencer->standing() + "; ";
  }
  if (count > 20) lines += fmt::format("and {} more; ", count - 20);
  return lines;
}

void Machine::check_end() {
  const std::string waiting = who_waits();
  std::string left = transport.unfinished();
  if (!waiting.empty()) {
    fail(std::make_exception_ptr(
        Error("spatial: the run", in_one_line("nothing can go on: " + waiting + left))));
    spatial::simulate();
    std::rethrow_exception(error_);
  }
  if ((options.early_read && !read_early_) || transport.fault_waits()) {
    throw Error("--fault", "a planted fault never had a chance to strike");
  }
  for (const auto& run : stages_) {
    for (const auto& tile : run->tiles) left += tile->unfinished();
  }
  left += collector.unfinished();
  if (!left.empty()) {
    throw Error("spatial: the run", in_one_line("it ended with work left over: " + left));
  }
}

void Machine::collect() {
  for (const auto& chip : tiles_) {
    auto& tiles = report_.tiles.emplace_back();
    for (const ChipTile& tile : chip) {
      tiles.push_back({tile.mac.busy, tile.vector.busy, tile.sender.busy, tile.port.bytes(),
                       tile.passes, tile.macs});
    }
  }
  for (const auto& run : stages_) {
    for (std::size_t block = 0; block < run->begin.size(); ++block) {
      report_.stage_times.push_back(
          {run->index, static_cast<std::int32_t>(block), run->begin[block], run->end[block]});
    }
  }
  report_.links = transport.link_loads();
  report_.chip_links = transport.chip_link_loads();
  report_.warnings = transport.warnings();
  for (const auto& sequencer : sequencers_) {
    for (const StepRecord& record : sequencer->trace().records) {
      report_.cycles = std::max(report_.cycles, record.end);
    }
    report_.traces.push_back(std::move(sequencer->trace()));
  }
}

RunReport run_chips(const Plan& plan, const ChipConfig& config, const WeightStore& weights,
                    Inputs& inputs, const ChipRun& options) {
  return Machine(plan, config, weights, inputs, options).run();
}

}  // namespace logos::spatial
