#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace logos::spatial {

inline constexpr std::int32_t kMostChips = 1024;  ///< of a line or ring

/// A tile of a mesh: y * width + x.
using Node = std::int32_t;
using Cycles = std::uint64_t;

/// A mesh of one chip as its configuration gives it.
struct MeshConfig {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t router_cycles = 4;  ///< a flit's way through a router that nobody else uses
  std::int32_t link_cycles = 1;    ///< from a router to the next, and to and from a tile
  std::int32_t virtual_channels = 4;
  std::int32_t buffer_flits = 8;  ///< of a virtual channel; the longest packet
};

/// A fault put into a mesh on purpose, once: the first chance from cycle `from` after its making on
/// that comes after `spared` others.
struct MeshFault {
  enum class Kind {
    kDroppedFlit,         ///< a flit is lost on a link
    kLostCredit,          ///< a credit is lost on its way back
    kSwappedDestination,  ///< a packet goes to a tile that is none of its destinations
  };
  Kind kind = Kind::kDroppedFlit;
  std::uint64_t spared = 0;
  Cycles from = 0;
};

/// What changes the times of a mesh and never what arrives, and the faults, which do.
struct MeshOptions {
  std::uint64_t seed = 1;          ///< where arbitration starts; which cycles links are closed in
  std::int32_t closed_of_256 = 0;  ///< cycles of 256 in which a link takes nothing, 0 to 255
  std::optional<MeshFault> fault = std::nullopt;
};

/// What travels: `flits` of one link's width from a tile to one or more others.
struct Packet {
  Node source = 0;
  std::shared_ptr<const std::vector<Node>> destinations;  ///< ascending, at least one
  std::int32_t flits = 1;
  std::shared_ptr<const void> payload = nullptr;  ///< the network does not look into it
};

/// What a link carried since the mesh was made. `from == to`: the link from a router to its tile.
struct LinkLoad {
  Node from = 0;
  Node to = 0;
  std::uint64_t flits = 0;
  std::uint64_t stalled_cycles = 0;  ///< some flit (packet model: head) was ready and did not go
};

/// Moves packets over a mesh in simulated time; one tick of SystemC's time is one cycle. Made and
/// used before, between and inside runs of SystemC's kernel (its processes are spawned); not
/// thread-safe.
///
/// At zero load a packet that is sent in cycle t over a way of n routers (links + 1) arrives in
/// cycle t + 1 + link_cycles + n * (router_cycles + link_cycles) + flits - 1. A packet to several
/// tiles goes along the tree of its ways (first x, then y), each link once.
///
/// A packet arrives whole. Packets of one source to one destination arrive in the order they were
/// sent on the packet model and where there is one virtual channel; else they may overtake each
/// other. A tile always takes what arrives.
class Network {
 public:
  using Arrival = std::function<void(Node, const Packet&)>;

  virtual ~Network() = default;

  /// Queues a packet at its source, whose port sends a flit a cycle from the next cycle on. The
  /// queue has no end: who must wait asks `queued_flits` first. Throws Error where the packet
  /// does not fit the mesh.
  virtual void send(Packet packet) = 0;
  /// Flits that wait at a source, among them those of a packet on its way into the mesh.
  virtual std::int64_t queued_flits(Node source) const = 0;
  /// Called when the queue of a source has become empty. It and `on_arrival` may send.
  virtual void on_drained(std::function<void(Node)> drained) = 0;
  /// Called once for each destination, in the cycle in which the packet's last flit arrives.
  virtual void on_arrival(Arrival arrival) = 0;

  /// Row by row of routers; each to the east, west, north, south (where there is one), its tile.
  virtual std::vector<LinkLoad> link_loads() const = 0;
  /// "" where nothing is under way, every credit is back and every packet reached its own
  /// destinations; else lines that say who waits for whom. Where nothing can move any more the mesh
  /// sleeps, so that the kernel's run ends: ask then.
  virtual std::string unfinished() const = 0;
  /// Whether a fault is planted that has found no chance so far.
  virtual bool fault_waits() const = 0;
  /// "" or a line that says why the model may be wrong for what it was asked.
  virtual std::string warning() const = 0;
};

}  // namespace logos::spatial
