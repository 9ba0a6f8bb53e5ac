#include "spatial/network/chip_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "program/error.h"

namespace logos::spatial {
namespace {

constexpr int kUpward = 0;
constexpr int kDownward = 1;

void check_config(const ChipLinksConfig& config) {
  if (config.chips < 1 || config.chips > kMostChips) {
    throw Error("chip links", "chips is out of range", std::to_string(config.chips),
                fmt::format("1 to {}", kMostChips));
  }
  if (!(config.bytes_per_cycle > 0) || !std::isfinite(config.bytes_per_cycle)) {
    throw Error("chip links", "bytes_per_cycle is out of range",
                fmt::format("{}", config.bytes_per_cycle), "more than 0");
  }
  if (config.transit_bytes < 0) {
    throw Error("chip links", "transit_bytes is out of range", std::to_string(config.transit_bytes),
                "0 or more");
  }
}

}  // namespace

ChipLinks::ChipLinks(const ChipLinksConfig& config, std::uint64_t seed, std::int32_t closed_of_256)
    : config_(config), closure_(seed, closed_of_256, Wakeup::now()), wakeup_([this] { step(); }) {
  check_config(config);
  config_.ring = config.ring && config.chips > 2;
  links_.resize(static_cast<std::size_t>(config.chips) * 2);
  for (Chip chip = 0; chip < config.chips; ++chip) {
    for (const int direction : {kUpward, kDownward}) {
      Link& made = link(chip, direction);
      made.dateline = chip == (direction == kUpward ? config.chips - 1 : 0);
      made.exists = config_.ring || !made.dateline;
      made.load.from = chip;
      made.load.to = next(chip, direction);
    }
  }
}

Chip ChipLinks::next(Chip chip, int direction) const {
  return (chip + (direction == kUpward ? 1 : config_.chips - 1)) % config_.chips;
}

std::int32_t ChipLinks::hops(Chip from, Chip to, int direction) const {
  const Chip ahead = direction == kUpward ? to - from : from - to;
  return (ahead + config_.chips) % config_.chips;
}

int ChipLinks::direction(Chip from, Chip to) const {
  if (!config_.ring) return to > from ? kUpward : kDownward;
  const std::int32_t up = hops(from, to, kUpward);
  const std::int32_t down = hops(from, to, kDownward);
  if (up == down) return from % 2 == 0 ? kUpward : kDownward;
  return up < down ? kUpward : kDownward;
}

void ChipLinks::check(const ChipMessage& message) const {
  for (const Chip chip : {message.from, message.to}) {
    if (chip >= 0 && chip < config_.chips) continue;
    throw Error("chip links", "a message's end is no chip", std::to_string(chip),
                fmt::format("0 to {}", config_.chips - 1));
  }
  if (message.from == message.to) {
    throw Error("chip links", "a message goes to its own chip", std::to_string(message.to),
                "another");
  }
  if (message.bytes < 1) {
    throw Error("chip links", "a message has no bytes", std::to_string(message.bytes), "1 or more");
  }
  const int way = direction(message.from, message.to);
  if (hops(message.from, message.to, way) > 1 && message.bytes > config_.transit_bytes) {
    throw Error("chip links", "a message does not fit the chips that it passes through",
                fmt::format("{} bytes", message.bytes),
                fmt::format("up to transit_bytes, {}", config_.transit_bytes));
  }
}

void ChipLinks::send(ChipMessage message) {
  check(message);
  if (free_.empty()) {
    free_.push_back(static_cast<std::int32_t>(travelling_.size()));
    travelling_.emplace_back();
  }
  const std::int32_t id = free_.back();
  free_.pop_back();
  const int way = direction(message.from, message.to);
  const Chip at = message.from;
  travelling_[static_cast<std::size_t>(id)] = {
      .message = std::move(message), .at = at, .direction = way, .channel = 0};
  enqueue(id);
}

void ChipLinks::enqueue(std::int32_t id) {
  const Travelling& travelling = travelling_[static_cast<std::size_t>(id)];
  Link& out = link(travelling.at, travelling.direction);
  out.waiting[static_cast<std::size_t>(travelling.channel)].push_back(id);
  out.waiting_bytes += travelling.message.bytes;
  out.load.peak_bytes = std::max(out.load.peak_bytes, out.waiting_bytes);
  start(out);
}

bool ChipLinks::has_room(const Travelling& travelling, const Link& over) {
  if (over.load.to == travelling.message.to) return true;
  const std::size_t channel = over.dateline ? 1 : static_cast<std::size_t>(travelling.channel);
  const Link& beyond = link(over.load.to, travelling.direction);
  return beyond.transit[channel] + travelling.message.bytes <= config_.transit_bytes;
}

Cycles ChipLinks::end_of(const Link& over, std::int64_t bytes) const {
  const Cycles now = Wakeup::now();
  const Cycles cycles =
      static_cast<Cycles>(std::ceil(static_cast<double>(bytes) / config_.bytes_per_cycle));
  if (!closure_.closes()) return now + cycles;
  const std::size_t number = static_cast<std::size_t>(&over - links_.data());
  Cycles end = now;
  for (Cycles left = cycles; left > 0;) left -= closure_.closed(number, ++end) ? 0 : 1;
  return end;
}

/// Gives a free link its next message, the channels in turn.
void ChipLinks::start(Link& over) {
  if (over.busy) return;
  for (int tried = 0; tried < kChannels; ++tried) {
    if (start_first(over, (over.turn + tried) % kChannels)) return;
  }
  const bool waits = over.waiting_bytes > 0;
  if (waits && !over.stalled) over.stalled_from = Wakeup::now();
  over.stalled = waits;
}

bool ChipLinks::start_first(Link& over, int channel) {
  const auto& queue = over.waiting[static_cast<std::size_t>(channel)];
  if (queue.empty()) return false;
  const std::int32_t id = queue.front();
  const Travelling& travelling = travelling_[static_cast<std::size_t>(id)];
  if (!has_room(travelling, over)) return false;
  if (over.load.to != travelling.message.to) {
    const std::size_t beyond = over.dateline ? 1 : static_cast<std::size_t>(channel);
    link(over.load.to, travelling.direction).transit[beyond] += travelling.message.bytes;
  }
  const Cycles now = Wakeup::now();
  if (over.stalled) over.load.stalled_cycles += now - over.stalled_from;
  over.stalled = false;
  over.busy = true;
  over.turn = (channel + 1) % kChannels;
  const Cycles end = end_of(over, travelling.message.bytes);
  over.load.bytes += travelling.message.bytes;
  over.load.busy_cycles += end - now;
  events_.push(end, {.arrives = false, .message = id});
  wakeup_.at(events_.next());
  return true;
}

void ChipLinks::step() {
  events_.take(Wakeup::now(), [this](const Event& event) {
    if (event.arrives) {
      arrive(event.message);
    } else {
      leave(event.message);
    }
  });
  if (!events_.empty()) wakeup_.at(events_.next());
}

void ChipLinks::leave(std::int32_t id) {
  const Travelling& travelling = travelling_[static_cast<std::size_t>(id)];
  Link& over = link(travelling.at, travelling.direction);
  const std::size_t channel = static_cast<std::size_t>(travelling.channel);
  over.waiting[channel].pop_front();
  over.waiting_bytes -= travelling.message.bytes;
  over.busy = false;
  if (config_.latency_cycles > 0) {
    events_.push(Wakeup::now() + config_.latency_cycles, {.arrives = true, .message = id});
  }
  if (travelling.at != travelling.message.from) {
    over.transit[channel] -= travelling.message.bytes;
    // The link that leads here in the same direction may have waited for that room.
    start(link(next(travelling.at, 1 - travelling.direction), travelling.direction));
  }
  if (config_.latency_cycles == 0) arrive(id);
  start(over);
}

void ChipLinks::arrive(std::int32_t id) {
  Travelling& travelling = travelling_[static_cast<std::size_t>(id)];
  if (link(travelling.at, travelling.direction).dateline) travelling.channel = 1;
  travelling.at = next(travelling.at, travelling.direction);
  if (travelling.at != travelling.message.to) {
    enqueue(id);
    return;
  }
  if (arrival_) arrival_(travelling.message);
  travelling.message = {};
  free_.push_back(id);
}

std::vector<ChipLinkLoad> ChipLinks::loads() const {
  std::vector<ChipLinkLoad> loads;
  for (const Link& link : links_) {
    if (link.exists) loads.push_back(link.load);
  }
  return loads;
}

std::string ChipLinks::unfinished() const {
  std::string text;
  for (const Link& link : links_) {
    if (link.waiting_bytes == 0) continue;
    text += fmt::format("link from chip {} to {}: {} messages of {} bytes wait{}\n", link.load.from,
                        link.load.to, link.waiting[0].size() + link.waiting[1].size(),
                        link.waiting_bytes, link.stalled ? " for room in the next chip" : "");
  }
  const std::size_t under_way = travelling_.size() - free_.size();
  if (under_way > 0) text += fmt::format("{} messages are under way\n", under_way);
  return text;
}

}  // namespace logos::spatial
