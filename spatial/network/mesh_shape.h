#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spatial/network/network.h"

namespace logos::spatial {

/// A router's ways out and in, named by where they lead; rows count from north.
enum Port : std::uint8_t { kEast, kWest, kNorth, kSouth, kTile };
constexpr int kPorts = 5;
const char* port_name(int port);

/// A set of ports: bit `port`.
using Ports = std::uint8_t;

/// Where the tiles of a mesh lie and how packets go: first along x, then along y.
class MeshShape {
 public:
  /// Throws Error naming the key of `config` that no mesh can have.
  explicit MeshShape(const MeshConfig& config);

  Node nodes() const { return static_cast<Node>(x_.size()); }
  Node x(Node node) const { return x_[static_cast<std::size_t>(node)]; }
  Node y(Node node) const { return y_[static_cast<std::size_t>(node)]; }
  Node at(Node x, Node y) const { return y * width_ + x; }
  /// -1 at an edge; the node itself through kTile.
  Node neighbor(Node node, int port) const;
  /// The port by which a router on its way sends on what goes to `destination`.
  Ports toward(Node node, Node destination) const {
    const Node dx = x(destination) - x(node);
    if (dx != 0) return static_cast<Ports>(1U << (dx > 0 ? kEast : kWest));
    const Node dy = y(destination) - y(node);
    if (dy != 0) return static_cast<Ports>(1U << (dy > 0 ? kSouth : kNorth));
    return 1U << kTile;
  }
  /// The union of the ways from `source`: for each router the ports by which a copy leaves.
  void lay_tree(Node source, std::span<const Node> destinations, std::vector<Ports>& forks) const;

 private:
  Node width_;
  Node height_;
  std::vector<Node> x_;
  std::vector<Node> y_;
};

/// By which port of the next router a link comes in.
constexpr int opposite(int port) { return port == kTile ? kTile : port ^ 1; }

}  // namespace logos::spatial
