#include "spatial/network/mesh_traffic.h"

#include <array>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "program/error.h"
#include "spatial/network/mesh_shape.h"
#include "spatial/network/wakeup.h"

namespace logos::spatial {
namespace {

constexpr std::array<std::pair<std::string_view, Pattern>, 4> kPatterns = {
    {{"uniform", Pattern::kUniform},
     {"neighbor", Pattern::kNeighbor},
     {"hotspot", Pattern::kHotspot},
     {"multicast", Pattern::kMulticast}}};

using Nodes = std::shared_ptr<const std::vector<Node>>;

/// Where packets go, each list of destinations made once.
class Aim {
 public:
  Aim(const MeshConfig& mesh, Pattern pattern) : mesh_(mesh), shape_(mesh), pattern_(pattern) {
    for (Node node = 0; node < shape_.nodes(); ++node) {
      single_.push_back(std::make_shared<const std::vector<Node>>(1, node));
      quarters_.push_back(pattern == Pattern::kMulticast ? quarter(node) : nullptr);
    }
  }

  Nodes from(Node source, std::mt19937_64& random) const {
    switch (pattern_) {
      case Pattern::kUniform:
        return single_[random() % single_.size()];
      case Pattern::kNeighbor:
        return single(
            shape_.at((shape_.x(source) + 1) % mesh_.width, (shape_.y(source) + 1) % mesh_.height));
      case Pattern::kHotspot:
        return single(shape_.at(mesh_.width / 2, mesh_.height / 2));
      case Pattern::kMulticast:
        return quarters_[static_cast<std::size_t>(source)];
    }
    return nullptr;
  }
  /// Routers on the way, the mean over the destinations.
  double routers(const Packet& packet) const {
    int sum = 0;
    for (const Node node : *packet.destinations) {
      sum += 1 + std::abs(shape_.x(node) - shape_.x(packet.source)) +
             std::abs(shape_.y(node) - shape_.y(packet.source));
    }
    return sum / static_cast<double>(packet.destinations->size());
  }

 private:
  Nodes single(Node node) const { return single_[static_cast<std::size_t>(node)]; }
  Nodes quarter(Node source) const {
    const Node middle_x = (mesh_.width + 1) / 2;
    const Node middle_y = (mesh_.height + 1) / 2;
    std::vector<Node> nodes;
    for (Node node = 0; node < shape_.nodes(); ++node) {
      if ((shape_.x(node) < middle_x) == (shape_.x(source) < middle_x) &&
          (shape_.y(node) < middle_y) == (shape_.y(source) < middle_y)) {
        nodes.push_back(node);
      }
    }
    return std::make_shared<const std::vector<Node>>(std::move(nodes));
  }

  MeshConfig mesh_;
  MeshShape shape_;
  Pattern pattern_;
  std::vector<Nodes> single_;
  std::vector<Nodes> quarters_;
};

struct Start {
  Cycles cycle;
  Packet packet;
};

/// All packets of a run by cycle, made before it so that its CPU time is the mesh's.
std::vector<Start> plan(const Aim& aim, Node nodes, const Traffic& traffic) {
  std::mt19937_64 random(traffic.seed);
  std::bernoulli_distribution starts(traffic.rate / traffic.flits);
  std::vector<Start> plan;
  for (Cycles cycle = 1; cycle <= traffic.warm_up + traffic.sample; ++cycle) {
    for (Node node = 0; node < nodes; ++node) {
      if (!starts(random)) continue;
      plan.push_back({cycle,
                      {.source = node,
                       .destinations = aim.from(node, random),
                       .flits = traffic.flits,
                       .payload = nullptr}});
    }
  }
  return plan;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

Pattern parse_pattern(std::string_view name) {
  for (const auto& [known, pattern] : kPatterns) {
    if (known == name) return pattern;
  }
  throw Error("traffic", "unknown pattern", name, "uniform, neighbor, hotspot or multicast");
}

TrafficResult run_traffic(Network& network, const MeshConfig& mesh, const Traffic& traffic) {
  if (traffic.rate <= 0 || traffic.rate > traffic.flits) {
    throw Error("traffic", "a tile starts at most a packet a cycle", std::to_string(traffic.rate),
                "a rate above 0 and up to the packet's flits");
  }
  const Aim aim(mesh, traffic.pattern);
  const Node nodes = mesh.width * mesh.height;
  std::vector<Start> starts = plan(aim, nodes, traffic);
  // The payload of a packet is its start.
  for (Start& start : starts) {
    start.packet.payload = std::shared_ptr<const void>(std::shared_ptr<void>(), &start.cycle);
  }

  TrafficResult result;
  const Cycles begin = Wakeup::now();
  const Cycles first = traffic.warm_up + 1;
  double measured = 0;
  std::uint64_t accepted = 0;
  network.on_arrival([&](Node, const Packet& packet) {
    const Cycles cycle = Wakeup::now() - begin;
    const Cycles start = *static_cast<const Cycles*>(packet.payload.get());
    if (cycle >= first && cycle < first + traffic.sample) {
      accepted += static_cast<std::uint64_t>(packet.flits);
    }
    if (start < first) return;
    measured += 1;
    result.latency += static_cast<double>(cycle - start);
    result.routers += aim.routers(packet);
  });
  std::size_t next = 0;
  std::unique_ptr<Wakeup> sender;
  sender = std::make_unique<Wakeup>([&] {
    const Cycles cycle = Wakeup::now() - begin;
    for (; next < starts.size() && starts[next].cycle == cycle; ++next) {
      network.send(std::move(starts[next].packet));
    }
    if (next < starts.size()) sender->at(begin + starts[next].cycle);
  });
  if (!starts.empty()) sender->at(begin + starts.front().cycle);
  const double cpu = cpu_seconds();
  simulate();
  result.cpu_seconds = cpu_seconds() - cpu;
  network.on_arrival(nullptr);

  if (measured > 0) {
    result.latency /= measured;
    result.routers /= measured;
  }
  result.accepted = static_cast<double>(accepted) /
                    (static_cast<double>(nodes) * static_cast<double>(traffic.sample));
  for (const LinkLoad& load : network.link_loads()) result.flit_hops += load.flits;
  result.packet_hops = result.flit_hops / static_cast<std::uint64_t>(traffic.flits);
  result.cycles = Wakeup::now() - begin;
  result.unfinished = network.unfinished();
  result.warning = network.warning();
  return result;
}

}  // namespace logos::spatial
