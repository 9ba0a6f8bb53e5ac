#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "spatial/network/mesh_shape.h"

namespace logos::spatial {

/// Strikes once, where its MeshFault says.
class PlantedFault {
 public:
  PlantedFault(const std::optional<MeshFault>& fault, Cycles made) : fault_(fault) {
    if (fault_) fault_->from += made;
  }
  bool strikes(MeshFault::Kind kind, Cycles now) {
    return fault_ && fault_->kind == kind && now >= fault_->from && count();
  }

  bool waits() const { return fault_.has_value(); }  ///< it has not struck

 private:
  bool count();

  std::optional<MeshFault> fault_;
};

/// The packets of a mesh that have not reached all their destinations, by small numbers that are
/// used again.
class MeshPackets {
 public:
  struct UnderWay {
    Packet packet;
    std::uint64_t serial = 0;  ///< packets sent before it
    Cycles sent = 0;
    std::size_t missing = 0;   ///< destinations not reached; 0: this entry is free
    std::vector<Node> astray;  ///< where it goes in place of its destinations, by a fault
    std::vector<Ports> forks;  ///< by router; empty for one destination
  };

  /// `longest`: flits of a packet.
  MeshPackets(const MeshShape& shape, std::int32_t longest) : shape_(shape), longest_(longest) {}

  /// Throws Error where the packet does not fit the mesh.
  std::int32_t add(Packet packet, Cycles now, PlantedFault& fault);
  /// Before `fork`.
  void lay_route(std::int32_t id);
  /// The ports by which the packet leaves a router on its way.
  Ports fork(std::int32_t id, Node node) const {
    const UnderWay& packet = packets_[static_cast<std::size_t>(id)];
    if (packet.forks.empty()) return shape_.toward(node, goals(packet).front());
    return packet.forks[static_cast<std::size_t>(node)];
  }
  /// Calls `arrival` and frees the entry after the last destination.
  void arrive(std::int32_t id, Node node, const Network::Arrival& arrival);

  const UnderWay& operator[](std::int32_t id) const {
    return packets_[static_cast<std::size_t>(id)];
  }
  /// As in "packet 17 (3 -> 5, 6; 8 flits)".
  std::string name(std::int32_t id) const;
  /// A line for each packet that is under way and for the first that reached a wrong tile.
  std::vector<std::string> unfinished() const;

 private:
  static const std::vector<Node>& goals(const UnderWay& packet) {
    return packet.astray.empty() ? *packet.packet.destinations : packet.astray;
  }
  void check(const Packet& packet) const;
  bool lead_astray(UnderWay& packet) const;

  const MeshShape& shape_;
  std::int32_t longest_;
  std::uint64_t sent_ = 0;
  std::deque<UnderWay> packets_;  // a packet that is being announced stays where it is
  std::vector<std::int32_t> free_;
  std::string misled_;
};

/// The lines as one text, the first twenty of them.
std::string join_lines(const std::vector<std::string>& lines);

}  // namespace logos::spatial
