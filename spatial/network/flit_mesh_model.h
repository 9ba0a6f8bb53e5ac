#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spatial/network/flit_routers.h"
#include "spatial/network/link_closure.h"
#include "spatial/network/mesh_packets.h"
#include "spatial/network/wakeup.h"
#include "spatial/network/wheel.h"

namespace logos::spatial {

/// See flit_mesh.h. All state lies in arrays by number; a flit on a link is its packet and the
/// channel it comes in by, and nothing is allocated for it once the arrays have grown.
class FlitMesh : public Network {
 public:
  FlitMesh(const MeshConfig& config, const MeshOptions& options);

  void send(Packet packet) override;
  std::int64_t queued_flits(Node source) const override {
    return sources_[static_cast<std::size_t>(source)].flits;
  }
  void on_drained(std::function<void(Node)> drained) override { drained_ = std::move(drained); }
  void on_arrival(Arrival arrival) override { arrival_ = std::move(arrival); }
  std::vector<LinkLoad> link_loads() const override;
  std::string unfinished() const override;
  bool fault_waits() const override { return fault_.waits(); }
  std::string warning() const override { return ""; }

 private:
  struct Flying {
    Channel into;
    std::int32_t packet;
  };

  void step();
  void arrive(const Flying& flit);
  void route_first(Channel at);
  void step_router(Node node);
  void claim_channels(Node node, Router& router);
  std::int32_t free_channel(Node node, Router& router, int port, std::int32_t flits);
  void pass_switch(Node node, Router& router);
  void pass_flit(Node node, Router& router, int port, int bit);
  void free_place(Channel in, Inflow& inflow);
  void give_credit(Channel outflow);
  void fly(Cycles delay, Channel into, std::int32_t packet);
  void feed(Node node);
  bool pick_source_channel(Source& source, Node node);

  std::size_t link(Node node, int port) const {
    return static_cast<std::size_t>(std::int64_t{node} * kPorts + port);
  }
  Channel channel(Node node, int port) const { return (node * kPorts + port) * channels_; }
  Channel tile_channel(Node node) const { return tiles_ + node * channels_; }
  Inflow& inflow_of(Channel in) { return inflows_[static_cast<std::size_t>(in)]; }
  const Inflow& inflow_of(Channel in) const { return inflows_[static_cast<std::size_t>(in)]; }
  Outflow& outflow_of(Channel out) { return outflows_[static_cast<std::size_t>(out)]; }
  const Outflow& outflow_of(Channel out) const { return outflows_[static_cast<std::size_t>(out)]; }
  /// Where the `nth` packet of an incoming channel lies in stored_.
  std::size_t place(Channel channel, int nth) const {
    int at = inflow_of(channel).first + nth;
    if (at >= config_.buffer_flits) at -= config_.buffer_flits;
    return static_cast<std::size_t>(std::int64_t{channel} * config_.buffer_flits + at);
  }

  std::vector<std::string> waiting_lines() const;
  std::string branch_line(Channel at, int port) const;
  std::string channel_name(Channel at) const;

  MeshConfig config_;
  MeshShape shape_;
  MeshPackets packets_;
  LinkClosure closure_;
  PlantedFault fault_;
  std::int32_t channels_;
  Channel tiles_;  ///< the first channel of a tile
  // A head that arrives in cycle t claims in t + route, asks for the switch in that cycle
  // (claim_first) or the next, and arrives `flight` after the switch.
  Cycles route_;
  bool claim_first_;
  Cycles flight_;

  std::vector<Router> routers_;
  std::vector<Inflow> inflows_;
  std::vector<Stored> stored_;  ///< buffer_flits places for each incoming channel
  std::vector<Outflow> outflows_;
  std::vector<Source> sources_;
  std::vector<Sink> sinks_;
  std::vector<Channel> next_;      ///< by link: the first of the channels it leads into
  std::vector<Channel> previous_;  ///< by incoming port: the first of the channels it comes from
  std::vector<LinkLoad> loads_;
  std::array<std::uint8_t, 64> port_of_bit_{};

  Wheel<Flying> flying_;
  Wheel<Channel> credits_;
  Wheel<Channel> routing_;
  NodeSet busy_routers_;
  NodeSet busy_sources_;
  std::vector<Node> emptied_;
  bool moved_ = false;  ///< something moved in this cycle, or may in the next by itself
  Cycles now_ = 0;

  Arrival arrival_;
  std::function<void(Node)> drained_;
  Wakeup wakeup_;
};

}  // namespace logos::spatial
