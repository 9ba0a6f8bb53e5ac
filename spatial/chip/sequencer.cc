#include "spatial/chip/sequencer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "program/error.h"

namespace logos::spatial {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// What a wait for a packet of this buffer counts as.
Category category_of(const Stage& stage, int buffer) {
  const Buffers& named = stage.named;
  for (const int peak : {named.peaks, named.tile_peaks, named.chip_peaks, named.chip_peaks_2,
                         named.peak, named.peak_2}) {
    if (buffer == peak) return Category::kSynchronisation;
  }
  return Category::kMovement;
}

}  // namespace

Sequencer::Sequencer(Machine& machine, StageRun& stage, std::int32_t tile, std::int32_t slot,
                     std::int32_t id)
    : machine_(machine),
      stage_(stage),
      state_(*stage.tiles[at(tile)]),
      tile_(machine.tile(stage.stage.chip, state_.map().node)),
      slot_(slot),
      id_(id),
      trace_{stage.index, tile, slot, {}} {}

void Sequencer::start() {
  process_ = std::make_unique<Process>(machine_.threads, [this] {
    try {
      follow();
    } catch (const Process::Stopped&) {
      throw;
    } catch (...) {
      machine_.fail(std::current_exception());
    }
  });
}

void Sequencer::follow() {
  const std::int32_t blocks = blocks_of(plan(), stage());
  const std::int32_t slots = slots_of(plan(), stage());
  for (std::int32_t block = slot_; block < blocks; block += slots) {
    begin_block(block);
    for (step_ = 0; step_ < stage().steps.size(); ++step_) {
      const Step& step = stage().steps[step_];
      if (takes(step)) execute(step);
    }
  }
}

void Sequencer::begin_block(std::int32_t block) {
  block_ = block;
  rows_ = rows_of_block(plan(), stage(), block);
  headings_.clear();
  kept_.clear();
  operand_tags_.assign(at(rows_.count), {});
  hidden_tags_ = sums_tags_ = operand_tags_;
  peaks_.assign(at(rows_.count), 0);
  exponents_.assign(state_.map().groups.size(), std::vector<std::int32_t>(at(rows_.count)));
}

/// Steps of the leader are not for the others.
bool Sequencer::takes(const Step& step) const {
  switch (step.opcode) {
    case Opcode::kWaitEntry:
    case Opcode::kForward:
    case Opcode::kPeak:
    case Opcode::kExchangePeak:
    case Opcode::kSendPeak:
      return state_.leads();
    case Opcode::kWait:
    case Opcode::kRelease: {
      const Buffer& buffer = stage().buffers[at(step.buffer)];
      return state_.leads() || !stage().areas[at(buffer.area)].leader_only;
    }
    default:
      return true;
  }
}

void Sequencer::execute(const Step& step) {
  record_ = {};
  record_.start = machine_.now();
  record_.step = static_cast<std::int32_t>(step_);
  record_.block = block_;
  record_.bound = Category::kCompute;
  switch (step.opcode) {
    case Opcode::kWaitEntry:
      wait_entry();
      break;
    case Opcode::kWait:
      wait_buffer(step);
      break;
    case Opcode::kWaitCache:
      wait_cache();
      break;
    case Opcode::kWaitCredit:
      wait_credit();
      break;
    default:
      compute(step);
  }
  record_.end = machine_.now();
  trace_.records.push_back(record_);
}

void Sequencer::compute(const Step& step) {
  switch (step.opcode) {
    case Opcode::kForward:
      return forward();
    case Opcode::kRelease:
      return release(step);
    case Opcode::kEmbed:
      return embed(step);
    case Opcode::kKeepOwn:
      return keep_own(step);
    case Opcode::kNorm:
      return norm(step);
    case Opcode::kQuantize:
      return quantize_attention(step);
    case Opcode::kQuantizeHidden:
      return quantize_hidden(step);
    case Opcode::kProject:
      return project(step);
    case Opcode::kProduct:
      return multiply(step);
    case Opcode::kHeads:
      return heads(step);
    case Opcode::kScores:
      return scores(step);
    case Opcode::kWeigh:
      return weigh(step);
    case Opcode::kFinish:
      return finish(step);
    case Opcode::kScale:
      return scale(step);
    case Opcode::kAddOwn:
      return add_own(step);
    case Opcode::kSendMiddle:
      return send_middle(step);
    case Opcode::kSilu:
      return silu(step);
    case Opcode::kPeak:
      return peak(step);
    case Opcode::kExchangePeak:
      return exchange_peak(step);
    case Opcode::kSendPeak:
      return send_peak(step);
    case Opcode::kSendAddends:
      return send_addends(step);
    case Opcode::kSendTotals:
      return send_totals(step);
    case Opcode::kTakeTotals:
      return take_totals(step);
    case Opcode::kSendJoined:
      return send_joined(step);
    case Opcode::kSendNext:
      return send_next(step);
    case Opcode::kShow:
      return show(step);
    case Opcode::kDone:
      return tell_done();
    case Opcode::kWaitEntry:
    case Opcode::kWait:
    case Opcode::kWaitCache:
    case Opcode::kWaitCredit:
      break;
  }
  CHECK_UNREACHABLE();
}

void Sequencer::wait_until(const std::function<bool()>& condition,
                           const std::function<Fill()>& by) {
  const Cycles begin = machine_.now();
  while (!condition()) process_->sleep();
  const Fill fill = by();
  if (fill.ready > machine_.now()) process_->pause(fill.ready - machine_.now());
  if (machine_.now() > begin) record_.cause = fill.last;
}

void Sequencer::wait_entry() {
  record_.bound = Category::kIdle;
  const int entry = stage().named.entry;
  const std::int32_t before = block_ - slots_of(plan(), stage());
  if (before >= 0) {
    record_.bound = Category::kSynchronisation;
    wait_until([&] { return state_.done[at(before)] == stage().tiles; },
               [&] {
                 return Fill{0, 0, 0, state_.done_origin[at(before)]};
               });
  }
  wait_until([&] { return state_.full(entry, 0, block_); },
             [&] {
               record_.bound = Category::kMovement;
               return state_.fill(entry, 0, block_);
             });
  stage_.begin[at(block_)] = state_.fill(entry, 0, block_).ready;
}

void Sequencer::wait_buffer(const Step& step) {
  record_.bound = category_of(stage(), step.buffer);
  wait_full(step);
  if (step.buffer == stage().named.row) keep_headings();
}

void Sequencer::wait_full(const Step& step) {
  const auto full = [&] { return state_.full(step.buffer, step.chunk, block_); };
  if (!full() && machine_.reads_early(stage().chip, state_.map().node)) return;
  wait_until(full, [&] { return state_.fill(step.buffer, step.chunk, block_); });
}

void Sequencer::wait_cache() {
  record_.bound = Category::kMovement;
  wait_until([&] { return state_.cache_complete(block_); },
             [&] {
               Fill last;
               for (std::int32_t b = 0; b <= block_; ++b) {
                 if (state_.cache_fill(b).ready >= last.ready) last = state_.cache_fill(b);
               }
               return last;
             });
}

/// A chunk's head takes the last row alone.
bool Sequencer::takes_part_in_next(const Stage& next) const {
  return next.rows == stage().rows || block_ == blocks_of(plan(), stage()) - 1;
}

void Sequencer::wait_credit() {
  record_.bound = Category::kSynchronisation;
  if (stage().kind != StageKind::kEmbedding) machine_.result_ready(stage_, block_);
  for (std::size_t i = 0; i < stage().next.size(); ++i) {
    const Stage& next = machine_.stage(stage().next[i]).stage;
    if (next.rows != stage().rows) continue;
    wait_until([&] { return state_.credits[i].got >= block_; }, [&] { return state_.credits[i]; });
  }
}

std::string Sequencer::standing() const {
  const Step& step = stage().steps[step_];
  std::string what = fmt::format("{}: block {}, step {}", state_.name(), block_, step_);
  switch (step.opcode) {
    case Opcode::kWait: {
      const Buffer& buffer = stage().buffers[at(step.buffer)];
      return what + fmt::format(": waits for \"{}\", chunk {}: {} of {} bytes",
                                stage().areas[at(buffer.area)].name, step.chunk,
                                state_.fill(step.buffer, step.chunk, block_).got,
                                state_.due(step.buffer, step.chunk, block_));
    }
    case Opcode::kWaitEntry:
      return what + fmt::format(": waits for the rows of the block: {} of {} bytes",
                                state_.fill(stage().named.entry, 0, block_).got,
                                state_.due(stage().named.entry, 0, block_));
    case Opcode::kWaitCache:
      return what + ": waits for keys and values";
    case Opcode::kWaitCredit:
      return what + fmt::format(": waits for room in stage {}", stage().next.front());
    default:
      return what + ": waits for a unit";
  }
}

Share Sequencer::share(const Step& step) const {
  return stage().partitions[at(step.partition)].of(state_.tile());
}

std::int64_t Sequencer::x_offset(StageKind kind) const {
  const std::int64_t rotary =
      kind == StageKind::kHead ? 0 : plan().head_columns * std::int64_t{sizeof(float)};
  return std::int64_t{sizeof(Heading)} + rotary;
}

const float* Sequencer::x_row(int buffer, std::int64_t row) {
  const std::int64_t offset = buffer == stage().named.row ? x_offset(stage().kind) : 0;
  return reinterpret_cast<const float*>(state_.buffer_row(buffer, block_, row) + offset);
}

/// Whether this sequencer shows what every tile, or every text chip, makes alike.
bool Sequencer::watches(bool once) const {
  if (!machine_.collector.watches()) return false;
  return !once || (stage().text_chip == 0 && state_.leads());
}

Collector::Place Sequencer::place(std::string_view name, std::int64_t row) const {
  return {stage().layer, std::string(name), rows_.first + row, headings_[at(row)].position};
}

void Sequencer::put_block(std::string_view name, std::int64_t row, std::int64_t whole,
                          std::int64_t first, std::span<const std::int16_t> q,
                          std::int8_t exponent) {
  put<std::int16_t>(name, row, whole, first, q);
  if (first == 0) put_exponent(name, row, 1, 0, exponent);
}

}  // namespace logos::spatial
