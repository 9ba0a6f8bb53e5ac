// A tile's units, memory and sender in time.
#include <algorithm>

#include "program/divide_up.h"
#include "spatial/chip/sequencer.h"

namespace logos::spatial {
namespace {

/// A unit that others may want is held for so long at most, so that an older block can go first.
constexpr Cycles kPiece = 128;

/// Part `piece` of `pieces` of an amount.
template <typename T>
T part(T whole, Cycles piece, Cycles pieces) {
  const auto p = static_cast<T>(piece);
  const auto n = static_cast<T>(pieces);
  return whole * (p + 1) / n - whole * p / n;
}

}  // namespace

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
      divide_up(static_cast<Cycles>(elements), lanes) * static_cast<Cycles>(operation.interval);
  const auto latency = static_cast<Cycles>(operation.latency);
  const bool alone = tile_.sequencers.size() == 1;
  const Cycles pieces = alone ? 1 : divide_up(cycles, kPiece);
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
      divide_up(static_cast<Cycles>(elements), lanes) * static_cast<Cycles>(operation.interval);
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
  const Cycles by_bytes = divide_up(static_cast<Cycles>(bytes), rate);
  const bool alone = tile_.sequencers.size() == 1;
  const Cycles pieces =
      alone ? 1 : std::max<Cycles>(1, divide_up(std::max(by_passes, by_bytes), kPiece));
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

}  // namespace logos::spatial
