#include "spatial/network/mesh_shape.h"

#include <fmt/core.h>

#include "program/check.h"
#include "program/error.h"

namespace logos::spatial {
namespace {

void check_key(const char* key, std::int32_t got, std::int32_t most) {
  if (got >= 1 && got <= most) return;
  throw Error("mesh", fmt::format("{} is out of range", key), std::to_string(got),
              fmt::format("1 to {}", most));
}

}  // namespace

const char* port_name(int port) {
  constexpr const char* kNames[kPorts] = {"east", "west", "north", "south", "tile"};
  return kNames[port];
}

MeshShape::MeshShape(const MeshConfig& config) : width_(config.width), height_(config.height) {
  check_key("width", config.width, 256);
  check_key("height", config.height, 256);
  check_key("router_cycles", config.router_cycles, 64);
  check_key("link_cycles", config.link_cycles, 64);
  // A router keeps a bit for each of its 5 x channels incoming channels in one word.
  check_key("virtual_channels", config.virtual_channels, 12);
  check_key("buffer_flits", config.buffer_flits, 4096);
  for (Node node = 0; node < width_ * height_; ++node) {
    x_.push_back(node % width_);
    y_.push_back(node / width_);
  }
}

Node MeshShape::neighbor(Node node, int port) const {
  switch (port) {
    case kEast:
      return x(node) + 1 < width_ ? node + 1 : -1;
    case kWest:
      return x(node) > 0 ? node - 1 : -1;
    case kNorth:
      return y(node) > 0 ? node - width_ : -1;
    case kSouth:
      return y(node) + 1 < height_ ? node + width_ : -1;
    case kTile:
      return node;
    default:
      CHECK_UNREACHABLE();
  }
}

void MeshShape::lay_tree(Node source, std::span<const Node> destinations,
                         std::vector<Ports>& forks) const {
  forks.assign(x_.size(), 0);
  for (const Node destination : destinations) {
    forks[static_cast<std::size_t>(destination)] |= 1U << kTile;
    // Back to the source, up to where another destination's way has been.
    for (Node node = destination; node != source;) {
      int back = y(node) > y(source) ? kNorth : kSouth;
      if (y(node) == y(source)) back = x(node) > x(source) ? kWest : kEast;
      node = neighbor(node, back);
      const Ports onward = static_cast<Ports>(1U << opposite(back));
      Ports& fork = forks[static_cast<std::size_t>(node)];
      if (fork & onward) break;
      fork |= onward;
    }
  }
}

}  // namespace logos::spatial
