#include "spatial/network/flit_mesh.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "program/check.h"
#include "spatial/network/flit_mesh_model.h"

namespace logos::spatial {
namespace {

constexpr Cycles kCreditCycles = 2;  // to leave the buffer, and the wire back
// Who has had nothing to do for so long begins again with the first turns, so that the packets of a
// program meet alike whatever passed before. (Sooner, and a router under light load would never
// come to the other turns: latency at half of saturation grew by half.)
constexpr Cycles kQuietCycles = 8;

/// The first bit from `turn` on, going around.
int next_bit(std::uint64_t bits, int turn) {
  const std::uint64_t behind = bits >> turn << turn;
  return std::countr_zero(behind != 0 ? behind : bits);
}

std::uint64_t bit_at(int place) { return std::uint64_t{1} << place; }

}  // namespace

std::unique_ptr<Network> make_flit_mesh(const MeshConfig& config, const MeshOptions& options) {
  return std::make_unique<FlitMesh>(config, options);
}

FlitMesh::FlitMesh(const MeshConfig& config, const MeshOptions& options)
    : config_(config),
      shape_(config),
      packets_(shape_, config.buffer_flits),
      closure_(options.seed, options.closed_of_256, Wakeup::now()),
      fault_(options.fault, Wakeup::now()),
      channels_(config.virtual_channels),
      tiles_(shape_.nodes() * kPorts * channels_),
      route_(static_cast<Cycles>(std::max(config.router_cycles - 3, 0))),
      claim_first_(config.router_cycles < 3),
      flight_(static_cast<Cycles>(std::min(config.router_cycles, 2) + config.link_cycles)),
      routers_(static_cast<std::size_t>(shape_.nodes())),
      inflows_(static_cast<std::size_t>(tiles_)),
      stored_(inflows_.size() * static_cast<std::size_t>(config.buffer_flits)),
      outflows_(static_cast<std::size_t>(tiles_ + shape_.nodes() * channels_)),
      sources_(routers_.size()),
      sinks_(routers_.size() * static_cast<std::size_t>(channels_)),
      next_(routers_.size() * kPorts, -1),
      previous_(next_),
      loads_(next_.size()),
      flying_(flight_),
      credits_(kCreditCycles),
      routing_(route_ + 1),
      busy_routers_(shape_.nodes()),
      busy_sources_(shape_.nodes()),
      wakeup_([this] { step(); }) {
  for (Outflow& outflow : outflows_) {
    outflow.credits = static_cast<std::int16_t>(config.buffer_flits);
  }
  for (int bit = 0; bit < kPorts * channels_; ++bit) {
    port_of_bit_[static_cast<std::size_t>(bit)] = static_cast<std::uint8_t>(bit / channels_);
  }
  std::uint64_t random = options.seed;
  const auto turn = [&](int choices) {
    random = LinkClosure::scatter(random);
    return static_cast<std::uint8_t>(random % static_cast<std::uint64_t>(choices));
  };
  for (Node node = 0; node < shape_.nodes(); ++node) {
    Router& router = routers_[static_cast<std::size_t>(node)];
    for (int port = 0; port < kPorts; ++port) {
      const std::size_t at = static_cast<std::size_t>(port);
      router.first_turns.claim[at] = turn(kPorts * channels_);
      router.first_turns.channel[at] = turn(channels_);
      router.first_turns.grant[at] = turn(kPorts);
      router.first_turns.accept[at] = turn(channels_);
      const Node neighbor = shape_.neighbor(node, port);
      if (neighbor < 0) continue;
      const Channel back = channel(neighbor, opposite(port));
      next_[link(node, port)] = port == kTile ? tile_channel(node) : back;
      previous_[link(node, port)] = port == kTile ? tile_channel(node) : back;
      loads_[link(node, port)] = {.from = node, .to = neighbor};
    }
    router.turns = router.first_turns;
    Source& source = sources_[static_cast<std::size_t>(node)];
    source.first_turn = turn(channels_);
    source.turn = source.first_turn;
  }
}

void FlitMesh::send(Packet packet) {
  const Cycles now = Wakeup::now();
  const std::int32_t id = packets_.add(std::move(packet), now, fault_);
  const Node node = packets_[id].packet.source;
  Source& source = sources_[static_cast<std::size_t>(node)];
  source.queue.push_back(id);
  source.flits += packets_[id].packet.flits;
  busy_sources_.insert(node);
  wakeup_.at(now + 1);
}

std::vector<LinkLoad> FlitMesh::link_loads() const {
  std::vector<LinkLoad> loads;
  for (std::size_t link = 0; link < loads_.size(); ++link) {
    if (next_[link] >= 0) loads.push_back(loads_[link]);
  }
  return loads;
}

void FlitMesh::step() {
  now_ = Wakeup::now();
  moved_ = false;
  credits_.take(now_, [&](Channel outflow) { ++outflow_of(outflow).credits; });
  flying_.take(now_, [&](const Flying& flit) { arrive(flit); });
  routing_.take(now_, [&](Channel channel) { route_first(channel); });
  busy_routers_.for_each([&](Node node) { step_router(node); });
  busy_sources_.for_each([&](Node node) { feed(node); });
  for (const Node node : emptied_) {
    if (drained_) drained_(node);
  }
  emptied_.clear();
  if (moved_ || flying_.pending() + credits_.pending() + routing_.pending() > 0) {
    wakeup_.at(now_ + 1);
  }
}

void FlitMesh::arrive(const Flying& flit) {
  if (flit.into >= tiles_) {
    Sink& sink = sinks_[static_cast<std::size_t>(flit.into - tiles_)];
    if (sink.packet != flit.packet) sink = {.packet = flit.packet};
    if (++sink.flits < packets_[flit.packet].packet.flits) return;
    sink.packet = -1;
    packets_.arrive(flit.packet, (flit.into - tiles_) / channels_, arrival_);
    return;
  }
  Inflow& inflow = inflow_of(flit.into);
  const auto last = [&] { return place(flit.into, inflow.packets - 1); };
  if (inflow.packets == 0 || stored_[last()].packet != flit.packet) {
    CHECK(inflow.packets < config_.buffer_flits);
    ++inflow.packets;
    stored_[last()] = {.packet = flit.packet,
                       .flits = static_cast<std::uint16_t>(packets_[flit.packet].packet.flits)};
    if (inflow.packets == 1) {
      if (route_ > 0) {
        routing_.push(now_ + route_, flit.into);
      } else {
        route_first(flit.into);
      }
    }
  }
  ++stored_[last()].arrived;
  if (inflow.packets > 1 || inflow.claimed == 0) return;
  const Node node = flit.into / (kPorts * channels_);
  Router& router = routers_[static_cast<std::size_t>(node)];
  const std::uint64_t bit = bit_at(flit.into - channel(node, 0));
  for (int port = 0; port < kPorts; ++port) {
    if (inflow.claimed >> port & 1) router.ready[static_cast<std::size_t>(port)] |= bit;
  }
  busy_routers_.insert(node);
}

void FlitMesh::route_first(Channel at) {
  const Node node = at / (kPorts * channels_);
  Inflow& inflow = inflow_of(at);
  inflow.fork = packets_.fork(stored_[place(at, 0)].packet, node);
  inflow.open = inflow.fork;
  inflow.freed = 0;
  inflow.sent = {};
  Router& router = routers_[static_cast<std::size_t>(node)];
  for (int port = 0; port < kPorts; ++port) {
    if (inflow.fork >> port & 1) {
      router.waiting[static_cast<std::size_t>(port)] |= bit_at(at - channel(node, 0));
    }
  }
  busy_routers_.insert(node);
}

void FlitMesh::step_router(Node node) {
  Router& router = routers_[static_cast<std::size_t>(node)];
  if (now_ >= router.idle_from + kQuietCycles) router.turns = router.first_turns;
  router.idle_from = now_ + 1;
  if (claim_first_) claim_channels(node, router);
  pass_switch(node, router);
  if (!claim_first_) claim_channels(node, router);
  std::uint64_t left = 0;
  for (int port = 0; port < kPorts; ++port) {
    left |= router.waiting[static_cast<std::size_t>(port)] |
            router.ready[static_cast<std::size_t>(port)];
  }
  if (left == 0) busy_routers_.erase(node);
}

std::int32_t FlitMesh::free_channel(Node node, Router& router, int port, std::int32_t flits) {
  std::uint8_t& turn = router.turns.channel[static_cast<std::size_t>(port)];
  for (int tried = 0; tried < channels_; ++tried) {
    const int candidate = turn + tried < channels_ ? turn + tried : turn + tried - channels_;
    const Outflow& outflow = outflow_of(channel(node, port) + candidate);
    if (outflow.holder >= 0 || outflow.credits < flits) continue;
    turn = static_cast<std::uint8_t>(candidate + 1 < channels_ ? candidate + 1 : 0);
    return candidate;
  }
  return -1;
}

void FlitMesh::claim_channels(Node node, Router& router) {
  const Channel base = channel(node, 0);
  for (int port = 0; port < kPorts; ++port) {
    const std::size_t out = static_cast<std::size_t>(port);
    const int start = router.turns.claim[out];
    bool granted = false;
    bool refused = false;
    for (std::uint64_t left = router.waiting[out]; left != 0;) {
      const int bit = next_bit(left, start);
      left &= ~bit_at(bit);
      const std::int32_t free =
          free_channel(node, router, port, stored_[place(base + bit, 0)].flits);
      if (free < 0) {
        refused = true;
        continue;
      }
      outflow_of(channel(node, port) + free).holder = base + bit;
      Inflow& inflow = inflow_of(base + bit);
      inflow.channel[out] = static_cast<std::uint8_t>(free);
      inflow.claimed = static_cast<Ports>(inflow.claimed | 1U << port);
      router.waiting[out] &= ~bit_at(bit);
      router.ready[out] |= bit_at(bit);  // the head itself is there
      if (!granted) {
        router.turns.claim[out] =
            static_cast<std::uint8_t>(bit + 1 < kPorts * channels_ ? bit + 1 : 0);
      }
      granted = true;
    }
    moved_ |= granted;
    if (refused) ++loads_[link(node, port)].stalled_cycles;
  }
}

void FlitMesh::pass_switch(Node node, Router& router) {
  const std::uint64_t one_port = bit_at(channels_) - 1;
  std::array<Ports, kPorts> granted{};  // by incoming port
  std::array<std::uint64_t, kPorts> wanted{};
  Ports inputs = 0;
  for (int port = 0; port < kPorts; ++port) {
    const std::size_t out = static_cast<std::size_t>(port);
    wanted[out] = router.ready[out];
    if (wanted[out] == 0) continue;
    if (closure_.closed(link(node, port), now_)) {
      moved_ = true;
      continue;
    }
    const int bit = next_bit(wanted[out], router.turns.grant[out] * channels_);
    const std::size_t in = port_of_bit_[static_cast<std::size_t>(bit)];
    granted[in] = static_cast<Ports>(granted[in] | 1U << port);
    inputs = static_cast<Ports>(inputs | 1U << in);
  }
  Ports passed = 0;
  for (; inputs != 0; inputs = static_cast<Ports>(inputs & (inputs - 1))) {
    const int in = std::countr_zero(inputs);
    const int base = in * channels_;
    std::uint64_t candidates = 0;
    for (int port = 0; port < kPorts; ++port) {
      if (granted[static_cast<std::size_t>(in)] >> port & 1) {
        candidates |= wanted[static_cast<std::size_t>(port)] >> base & one_port;
      }
    }
    std::uint8_t& turn = router.turns.accept[static_cast<std::size_t>(in)];
    const int accepted = next_bit(candidates, turn);
    turn = static_cast<std::uint8_t>(accepted + 1 < channels_ ? accepted + 1 : 0);
    for (int port = 0; port < kPorts; ++port) {
      const std::size_t out = static_cast<std::size_t>(port);
      if ((granted[static_cast<std::size_t>(in)] >> port & 1) == 0) continue;
      if ((wanted[out] >> (base + accepted) & 1) == 0) continue;
      router.turns.grant[out] = static_cast<std::uint8_t>(in + 1 < kPorts ? in + 1 : 0);
      passed = static_cast<Ports>(passed | 1U << port);
      pass_flit(node, router, port, base + accepted);
    }
  }
  moved_ |= passed != 0;
  for (int port = 0; port < kPorts; ++port) {
    const int flits = std::popcount(wanted[static_cast<std::size_t>(port)]);
    if (flits > (passed >> port & 1)) ++loads_[link(node, port)].stalled_cycles;
  }
}

void FlitMesh::pass_flit(Node node, Router& router, int port, int bit) {
  const std::size_t out = static_cast<std::size_t>(port);
  const Channel in = channel(node, 0) + bit;
  Inflow& inflow = inflow_of(in);
  const Stored& packet = stored_[place(in, 0)];
  Outflow& outflow = outflow_of(channel(node, port) + inflow.channel[out]);
  const std::uint16_t sent = ++inflow.sent[out];
  if (port != kTile) --outflow.credits;  // a tile always takes
  ++loads_[link(node, port)].flits;
  fly(flight_, next_[link(node, port)] + inflow.channel[out], packet.packet);
  if (sent == packet.arrived) router.ready[out] &= ~bit_at(bit);
  if (sent == packet.flits) {
    outflow.holder = -1;
    inflow.claimed = static_cast<Ports>(inflow.claimed & ~(1U << port));
    inflow.open = static_cast<Ports>(inflow.open & ~(1U << port));
  }
  free_place(in, inflow);
}

void FlitMesh::free_place(Channel in, Inflow& inflow) {
  for (int port = 0; port < kPorts; ++port) {
    const bool behind = inflow.sent[static_cast<std::size_t>(port)] == inflow.freed;
    if ((inflow.fork >> port & 1) && behind) return;
  }
  ++inflow.freed;
  give_credit(previous_[static_cast<std::size_t>(in / channels_)] + in % channels_);
  if (inflow.open != 0) return;
  inflow.first =
      static_cast<std::uint16_t>(inflow.first + 1 < config_.buffer_flits ? inflow.first + 1 : 0);
  inflow.fork = 0;
  // The next packet's head has come to the front in the cycle after this.
  if (--inflow.packets > 0) routing_.push(now_ + 1 + route_, in);
}

void FlitMesh::give_credit(Channel outflow) {
  if (fault_.strikes(MeshFault::Kind::kLostCredit, now_)) return;
  credits_.push(now_ + kCreditCycles, outflow);
}

void FlitMesh::fly(Cycles delay, Channel into, std::int32_t packet) {
  if (fault_.strikes(MeshFault::Kind::kDroppedFlit, now_)) return;
  flying_.push(now_ + delay, {.into = into, .packet = packet});
}

bool FlitMesh::pick_source_channel(Source& source, Node node) {
  const std::int32_t packet = source.queue.front();
  for (int tried = 0; tried < channels_; ++tried) {
    const int candidate = (source.turn + tried) % channels_;
    const Outflow& outflow = outflow_of(tile_channel(node) + candidate);
    if (outflow.credits < packets_[packet].packet.flits) continue;
    source.channel = static_cast<std::uint8_t>(candidate);
    source.turn = static_cast<std::uint8_t>((candidate + 1) % channels_);
    packets_.lay_route(packet);
    return true;
  }
  return false;
}

void FlitMesh::feed(Node node) {
  Source& source = sources_[static_cast<std::size_t>(node)];
  const std::int32_t packet = source.queue.front();
  if (now_ >= source.idle_from + kQuietCycles) source.turn = source.first_turn;
  source.idle_from = now_ + 1;
  // What is sent in this cycle leaves in the next, whichever process the kernel ran first.
  if (packets_[packet].sent >= now_) return;
  if (closure_.closed(next_.size() + static_cast<std::size_t>(node), now_)) {
    moved_ = true;
    return;
  }
  if (source.sent == 0 && !pick_source_channel(source, node)) return;
  --outflow_of(tile_channel(node) + source.channel).credits;
  fly(static_cast<Cycles>(config_.link_cycles), channel(node, kTile) + source.channel, packet);
  moved_ = true;
  --source.flits;
  if (++source.sent < packets_[packet].packet.flits) return;
  source.sent = 0;
  source.queue.pop_front();
  if (!source.queue.empty()) return;
  busy_sources_.erase(node);
  emptied_.push_back(node);
}

}  // namespace logos::spatial
