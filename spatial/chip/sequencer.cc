#include "spatial/chip/sequencer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "program/error.h"

namespace logos::spatial {
namespace {

/// A unit that others may want is held for so long at most, so that an older block can go first.
constexpr Cycles kPiece = 128;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
Cycles up(Cycles n, Cycles d) { return (n + d - 1) / d; }
/// Part `piece` of `pieces` of an amount.
template <typename T>
T part(T whole, Cycles piece, Cycles pieces) {
  const auto p = static_cast<T>(piece);
  const auto n = static_cast<T>(pieces);
  return whole * (p + 1) / n - whole * p / n;
}

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
  process_ = std::make_unique<Process>([this] {
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

/// Where stalls are asked for, a unit now and then starts late.
void Sequencer::dawdle() {
  if (!machine_.options.stalls) return;
  tile_.random = tile_.random * 6364136223846793005u + 1442695040888963407u;
  const std::uint64_t bits = tile_.random >> 40;
  if (bits % 4 == 0) process_->pause(1 + bits / 4 % 40);
}

void Sequencer::access(std::int64_t bytes) {
  const Cycles now = Wakeup::now();
  const Cycles end = tile_.port.access(now, bytes);
  if (end > now) process_->pause(end - now);
}

void Sequencer::vector_work(const VectorOperation& operation, std::int64_t elements,
                            std::int64_t bytes) {
  if (elements <= 0) return;
  const auto lanes = static_cast<Cycles>(machine_.config.vector_lanes);
  const Cycles cycles =
      up(static_cast<Cycles>(elements), lanes) * static_cast<Cycles>(operation.interval);
  const auto latency = static_cast<Cycles>(operation.latency);
  const bool alone = tile_.sequencers.size() == 1;
  const Cycles pieces = alone ? 1 : up(cycles, kPiece);
  const Turn turn = {cycles, block_};
  tile_.vector.acquire(*process_, turn);
  for (Cycles piece = 0; piece < pieces; ++piece) {
    tile_.vector.yield(*process_, turn);
    dawdle();
    const Cycles now = Wakeup::now();
    const Cycles end = std::max(now + part(cycles, piece, pieces),
                                tile_.port.access(now, part(bytes, piece, pieces)));
    tile_.vector.busy += end - now;
    process_->pause(end - now + (alone ? latency : 0));
  }
  tile_.vector.release();
  if (!alone && latency > 0) process_->pause(latency);
}

Cycles Sequencer::vector_begin(const VectorOperation& operation, std::int64_t elements,
                               std::int64_t bytes) {
  const auto lanes = static_cast<Cycles>(machine_.config.vector_lanes);
  const Cycles cycles =
      up(static_cast<Cycles>(elements), lanes) * static_cast<Cycles>(operation.interval);
  tile_.vector.acquire(*process_, {cycles, block_});
  const Cycles now = Wakeup::now();
  const Cycles end = std::max(now + cycles, tile_.port.access(now, bytes));
  tile_.vector.busy += end - now;
  tile_.vector.keep_until(end);
  tile_.vector.release();
  return end + static_cast<Cycles>(operation.latency);
}

bool Sequencer::mac_work(std::int64_t passes, std::int64_t bytes) {
  const bool by_bytes = mac_passes(passes, bytes);
  process_->pause(static_cast<Cycles>(machine_.config.mac_latency));
  return by_bytes;
}

bool Sequencer::mac_passes(std::int64_t passes, std::int64_t bytes) {
  const auto rate = static_cast<Cycles>(machine_.config.sram_bytes_per_cycle);
  const auto by_passes = static_cast<Cycles>(passes);
  const Cycles by_bytes = up(static_cast<Cycles>(bytes), rate);
  const bool alone = tile_.sequencers.size() == 1;
  const Cycles pieces = alone ? 1 : std::max<Cycles>(1, up(std::max(by_passes, by_bytes), kPiece));
  const Turn turn = {std::max(by_passes, by_bytes), block_};
  tile_.mac.acquire(*process_, turn);
  for (Cycles piece = 0; piece < pieces; ++piece) {
    tile_.mac.yield(*process_, turn);
    dawdle();
    const Cycles begin = Wakeup::now();
    const Cycles passed = begin + part(by_passes, piece, pieces);
    tile_.port.stream(begin, part(bytes, piece, pieces));
    for (;;) {
      const Cycles end = std::max(passed, tile_.port.stream_end());
      if (end <= Wakeup::now()) break;
      process_->pause(end - Wakeup::now());
    }
    tile_.mac.busy += Wakeup::now() - begin;
  }
  tile_.mac.release();
  tile_.passes += by_passes;
  return by_bytes >= by_passes;
}

Nodes Sequencer::nodes_of(std::int32_t first, std::int32_t count, std::int32_t but) {
  return stage_.map.nodes_but(first, count, but);
}

std::shared_ptr<Message> Sequencer::message(int stage, int buffer, std::int32_t chunk) const {
  auto message = std::make_shared<Message>();
  message->stage = stage;
  message->chip = machine_.stage(stage).stage.chip;
  message->block = block_;
  message->buffer = buffer;
  message->chunk = chunk;
  message->rows = rows_.count;
  message->origin = {id_, static_cast<std::int32_t>(trace_.records.size()), machine_.now()};
  return message;
}

void Sequencer::send_part(const std::shared_ptr<Message>& message, const MessagePart& part) {
  const std::int32_t chip = stage().chip;
  const Node node = state_.map().node;
  tile_.sender.acquire(*process_, {static_cast<Cycles>(message->data.size()), block_});
  dawdle();
  while (machine_.transport.queued_flits(chip, node) > machine_.transport.longest_packet()) {
    process_->sleep();
  }
  const Cycles now = Wakeup::now();
  const Cycles end = std::max(now + static_cast<Cycles>(machine_.transport.flits_of(part)),
                              tile_.port.access(now, part.end - part.begin));
  message->origin.sent = machine_.now() + (end - now);
  machine_.count_sent(part.end - part.begin);
  machine_.transport.send(chip, node, message, part);
  tile_.sender.busy += end - now;
  process_->pause(end - now);
  tile_.sender.release();
}

void Sequencer::send(const std::shared_ptr<Message>& message, bool to_self) {
  machine_.transport.cut(*message);
  if (!message->nodes->empty()) {
    for (const MessagePart& part : message->parts) send_part(message, part);
  }
  if (!to_self) return;
  message->origin.sent = machine_.now();
  for (const MessagePart& part : message->parts) machine_.receive(stage_, state_.tile(), part);
}

void Sequencer::send_to_all(const std::shared_ptr<Message>& message) {
  if (message->data.empty()) return;
  message->nodes = nodes_of(0, stage().tiles, state_.tile());
  send(message, true);
}

void Sequencer::send_to_tile(const std::shared_ptr<Message>& message, std::int32_t tile) {
  const bool to_self = tile == state_.tile();
  message->nodes = nodes_of(tile, 1, to_self ? tile : -1);
  send(message, to_self);
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
