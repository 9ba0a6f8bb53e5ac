#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "spatial/network/flit_mesh.h"
#include "spatial/network/packet_mesh.h"
#include "spatial/network/wakeup.h"

namespace logos::spatial {

enum class Model { kFlit, kPacket };

inline std::unique_ptr<Network> make_mesh(Model model, const MeshConfig& config,
                                          const MeshOptions& options = {}) {
  return model == Model::kFlit ? make_flit_mesh(config, options)
                               : make_packet_mesh(config, options);
}

inline Packet packet(Node source, std::vector<Node> destinations, std::int32_t flits,
                     int number = 0) {
  return {.source = source,
          .destinations = std::make_shared<const std::vector<Node>>(std::move(destinations)),
          .flits = flits,
          .payload = std::make_shared<const int>(number)};
}

inline int number_of(const Packet& packet) {
  return *static_cast<const int*>(packet.payload.get());
}

struct Sent {
  Cycles cycle;  ///< from the beginning of the run
  Packet packet;
};

struct Arrived {
  Cycles cycle;
  Node node;
  int number;

  bool operator==(const Arrived&) const = default;
};

/// Sends packets at their cycles (ascending) and returns what arrived, in order, when all is done.
inline std::vector<Arrived> run(Network& network, const std::vector<Sent>& sends) {
  std::vector<Arrived> arrivals;
  const Cycles begin = Wakeup::now();
  network.on_arrival([&](Node node, const Packet& arrived) {
    arrivals.push_back({Wakeup::now() - begin, node, number_of(arrived)});
  });
  std::size_t next = 0;
  std::unique_ptr<Wakeup> sender;
  sender = std::make_unique<Wakeup>([&] {
    for (; next < sends.size() && begin + sends[next].cycle == Wakeup::now(); ++next) {
      network.send(sends[next].packet);
    }
    if (next < sends.size()) sender->at(begin + sends[next].cycle);
  });
  if (!sends.empty()) sender->at(begin + sends.front().cycle);
  simulate();
  network.on_arrival(nullptr);
  return arrivals;
}

}  // namespace logos::spatial
