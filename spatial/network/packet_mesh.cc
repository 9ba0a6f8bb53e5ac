#include "spatial/network/packet_mesh.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "program/check.h"
#include "program/error.h"
#include "spatial/network/calendar.h"
#include "spatial/network/link_closure.h"
#include "spatial/network/mesh_packets.h"
#include "spatial/network/wakeup.h"

namespace logos::spatial {
namespace {

constexpr double kTrustedLoad = 0.6;  // of a link

struct Event {
  enum Kind : std::int32_t {
    kHead,     ///< a head comes to a router
    kArrived,  ///< a tail comes to its tile
    kLeft,     ///< a tail leaves its source
  };
  std::int32_t packet = 0;
  std::int32_t tail = 0;  ///< cycles that the tail is behind the head
  Node node = 0;
  Kind kind = kHead;
  std::uint32_t turn = 0;  ///< of the packet's source
};

/// When a packet passes a link: its first and its last flit.
struct Passage {
  Cycles first = 0;
  Cycles last = 0;
};

class PacketMesh : public Network {
 public:
  PacketMesh(const MeshConfig& config, const MeshOptions& options);

  void send(Packet packet) override;
  std::int64_t queued_flits(Node source) const override {
    return queued_[static_cast<std::size_t>(source)];
  }
  void on_drained(std::function<void(Node)> drained) override { drained_ = std::move(drained); }
  void on_arrival(Arrival arrival) override { arrival_ = std::move(arrival); }
  std::vector<LinkLoad> link_loads() const override;
  std::string unfinished() const override { return join_lines(packets_.unfinished()); }
  bool fault_waits() const override { return fault_.waits(); }
  std::string warning() const override;

 private:
  void step();
  bool before(const Event& a, const Event& b) const;
  void happen(const Event& event);
  void route(const Event& event);
  Passage pass(std::size_t link, Cycles ready, Cycles tail, std::int32_t flits);

  static std::size_t link_of(Node node, int port) {
    return static_cast<std::size_t>(std::int64_t{node} * kPorts + port);
  }
  std::size_t source_link(Node node) const {
    return static_cast<std::size_t>(std::int64_t{shape_.nodes()} * kPorts + node);
  }

  MeshShape shape_;
  MeshPackets packets_;
  LinkClosure closure_;
  PlantedFault fault_;
  std::vector<std::uint32_t> turns_;  ///< of sources: who goes first of those that meet
  Cycles link_cycles_;
  // As in the flit model: a head that arrives in cycle t passes the switch in t + to_switch and
  // arrives `flight` later.
  Cycles to_switch_;
  Cycles flight_;

  std::vector<Cycles> free_from_;     ///< by link, behind those of the routers the sources'
  std::vector<LinkLoad> loads_;       ///< alike; from -1: there is no such link
  std::vector<std::int64_t> queued_;  ///< flits, by source
  Calendar<Event> events_;
  std::int64_t under_way_ = 0;
  Cycles now_ = 0;
  Cycles busy_from_ = 0;
  Cycles busy_cycles_ = 0;

  Arrival arrival_;
  std::function<void(Node)> drained_;
  Wakeup wakeup_;
};

PacketMesh::PacketMesh(const MeshConfig& config, const MeshOptions& options)
    : shape_(config),
      packets_(shape_, config.buffer_flits),
      closure_(options.seed, options.closed_of_256, Wakeup::now()),
      fault_(options.fault, Wakeup::now()),
      turns_(static_cast<std::size_t>(shape_.nodes())),
      link_cycles_(static_cast<Cycles>(config.link_cycles)),
      to_switch_(static_cast<Cycles>(std::max(config.router_cycles - 2, 0))),
      flight_(static_cast<Cycles>(std::min(config.router_cycles, 2) + config.link_cycles)),
      free_from_(static_cast<std::size_t>(shape_.nodes() * (kPorts + 1))),
      loads_(free_from_.size(), LinkLoad{.from = -1}),
      queued_(static_cast<std::size_t>(shape_.nodes())),
      wakeup_([this] { step(); }) {
  if (options.fault && options.fault->kind != MeshFault::Kind::kSwappedDestination) {
    throw Error("mesh", "the packet model has no flits or credits that a fault could take");
  }
  std::uint64_t random = options.seed;
  for (Node node = 0; node < shape_.nodes(); ++node) {
    random = LinkClosure::scatter(random);
    turns_[static_cast<std::size_t>(node)] = static_cast<std::uint32_t>(random);
    for (int port = 0; port < kPorts; ++port) {
      const Node neighbor = shape_.neighbor(node, port);
      if (neighbor < 0) continue;
      loads_[link_of(node, port)] = {.from = node, .to = neighbor};
    }
  }
}

/// The link's next passage from cycle `ready` on of a packet whose tail can pass from `tail` on.
Passage PacketMesh::pass(std::size_t link, Cycles ready, Cycles tail, std::int32_t flits) {
  Cycles cycle = std::max(ready, free_from_[link]);
  while (closure_.closed(link, cycle)) ++cycle;
  Passage passage{.first = cycle, .last = cycle + static_cast<Cycles>(flits) - 1};
  if (closure_.closes()) {
    for (std::int32_t left = flits - 1; left > 0;) left -= closure_.closed(link, ++cycle) ? 0 : 1;
    passage.last = std::max(cycle, tail);
  }
  free_from_[link] = passage.last + 1;
  loads_[link].flits += static_cast<std::uint64_t>(flits);
  loads_[link].stalled_cycles += passage.first - ready;
  return passage;
}

void PacketMesh::send(Packet packet) {
  const Cycles now = Wakeup::now();
  const std::int32_t id = packets_.add(std::move(packet), now, fault_);
  packets_.lay_route(id);
  const Node node = packets_[id].packet.source;
  const std::int32_t flits = packets_[id].packet.flits;
  queued_[static_cast<std::size_t>(node)] += flits;
  if (under_way_++ == 0) busy_from_ = now;
  const Passage passage = pass(source_link(node), now + 1, 0, flits);
  events_.push(passage.first + link_cycles_,
               {.packet = id,
                .tail = static_cast<std::int32_t>(passage.last - passage.first),
                .node = node,
                .kind = Event::kHead,
                .turn = turns_[static_cast<std::size_t>(node)]});
  events_.push(passage.last, {.packet = id, .tail = flits, .node = node, .kind = Event::kLeft});
  wakeup_.at(events_.next());
}

void PacketMesh::step() {
  now_ = Wakeup::now();
  events_.take(
      now_, [&](const Event& event) { happen(event); },
      [&](std::vector<Event>& events) {
        std::sort(events.begin(), events.end(),
                  [&](const Event& a, const Event& b) { return before(a, b); });
      });
  if (!events_.empty()) wakeup_.at(events_.next());
}

/// The order of what happens in one cycle: by source as the seed has it, so that the packets of a
/// program meet alike whatever passed before.
bool PacketMesh::before(const Event& a, const Event& b) const {
  if (a.turn != b.turn) return a.turn < b.turn;
  const auto rest = [&](const Event& event) {
    return std::tuple(packets_[event.packet].serial, event.node, event.kind);
  };
  return rest(a) < rest(b);
}

void PacketMesh::happen(const Event& event) {
  switch (event.kind) {
    case Event::kHead:
      return route(event);
    case Event::kArrived:
      packets_.arrive(event.packet, event.node, arrival_);
      if (packets_[event.packet].missing == 0 && --under_way_ == 0) {
        busy_cycles_ += now_ - busy_from_;
      }
      return;
    case Event::kLeft: {
      std::int64_t& queued = queued_[static_cast<std::size_t>(event.node)];
      queued -= event.tail;
      if (queued == 0 && drained_) drained_(event.node);
      return;
    }
  }
}

void PacketMesh::route(const Event& event) {
  const std::int32_t flits = packets_[event.packet].packet.flits;
  const Ports fork = packets_.fork(event.packet, event.node);
  for (int port = 0; port < kPorts; ++port) {
    if ((fork >> port & 1) == 0) continue;
    const std::size_t link = link_of(event.node, port);
    const Passage passage =
        pass(link, now_ + to_switch_, now_ + static_cast<Cycles>(event.tail), flits);
    if (port == kTile) {
      events_.push(passage.last + flight_, {.packet = event.packet,
                                            .node = event.node,
                                            .kind = Event::kArrived,
                                            .turn = event.turn});
    } else {
      events_.push(passage.first + flight_,
                   {.packet = event.packet,
                    .tail = static_cast<std::int32_t>(passage.last - passage.first),
                    .node = loads_[link].to,
                    .kind = Event::kHead,
                    .turn = event.turn});
    }
  }
}

std::vector<LinkLoad> PacketMesh::link_loads() const {
  std::vector<LinkLoad> loads;
  for (const LinkLoad& load : loads_) {
    if (load.from >= 0) loads.push_back(load);
  }
  return loads;
}

std::string PacketMesh::warning() const {
  const std::vector<LinkLoad> loads = link_loads();
  const LinkLoad& most =
      *std::max_element(loads.begin(), loads.end(),
                        [](const LinkLoad& a, const LinkLoad& b) { return a.flits < b.flits; });
  const double load =
      static_cast<double>(most.flits) / static_cast<double>(std::max<Cycles>(busy_cycles_, 1));
  if (load <= kTrustedLoad) return "";
  return fmt::format(
      "the link from router {} to {} {} was busy in {:.0f} % of {} cycles; above {:.0f} % the "
      "packet model, which has no back-pressure, is too fast: use the flit model",
      most.from, most.from == most.to ? "tile" : "router", most.to, 100 * load, busy_cycles_,
      100 * kTrustedLoad);
}

}  // namespace

std::unique_ptr<Network> make_packet_mesh(const MeshConfig& config, const MeshOptions& options) {
  return std::make_unique<PacketMesh>(config, options);
}

}  // namespace logos::spatial
