#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spatial/chip/message.h"
#include "spatial/chip_config.h"
#include "spatial/network/chip_links.h"

namespace logos::spatial {

/// What changes how things travel: never what arrives, but for the faults.
struct TransportOptions {
  std::uint64_t seed = 1;
  bool stalls = false;
  std::vector<std::optional<MeshFault>> faults;  ///< [chip]; may be shorter
};

/// Makes the network of a chip.
using MeshMaker = std::function<std::unique_ptr<Network>(const MeshConfig&, const MeshOptions&)>;
MeshMaker mesh_maker(const ChipConfig& config);

/// The chips' meshes and the links between them; a chip that the run does not use has no mesh
/// (making one takes as long as a small run). A chip's gateways are the tiles in the middle of its
/// east edge (upward) and its west edge (downward): what is for another chip goes there, over the
/// links packet by packet, and from the gateway where it comes in to its tiles.
class Transport {
 public:
  /// Takes a part that has arrived at a node of a chip.
  using Delivery = std::function<void(std::int32_t chip, Node node, const MessagePart& part)>;
  using Drained = std::function<void(std::int32_t chip, Node node)>;

  /// `used`: by chip, whether it has a stage.
  Transport(const ChipConfig& config, const std::vector<bool>& used,
            const TransportOptions& options, const MeshMaker& make, Delivery deliver,
            const Drained& drained);

  /// Cuts a message's bytes into parts of a packet's length; one empty part where there are none.
  void cut(Message& message) const;
  /// Sends a part from a tile. The sender waits for the flits that this takes of its port.
  void send(std::int32_t chip, Node node, const std::shared_ptr<const Message>& message,
            const MessagePart& part);
  std::int64_t flits_of(const MessagePart& part) const;
  std::int64_t queued_flits(std::int32_t chip, Node node) const {
    return meshes_[static_cast<std::size_t>(chip)]->queued_flits(node);
  }
  std::int64_t longest_packet() const { return mesh_.buffer_flits; }

  std::vector<std::vector<LinkLoad>> link_loads() const;
  std::vector<ChipLinkLoad> chip_link_loads() const;
  std::vector<std::string> warnings() const;
  bool fault_waits() const;        ///< whether a planted fault has found no chance
  std::string unfinished() const;  ///< "" or lines: what is still under way

 private:
  bool goes_up(std::int32_t from, std::int32_t to) const;
  Node gateway(bool east) const;
  void enter(std::int32_t chip, Node node, const std::shared_ptr<const Message>& message,
             const MessagePart& part, const Nodes& nodes);
  void leave(std::int32_t chip, const std::shared_ptr<const Message>& message,
             const MessagePart& part);
  void arrive(std::int32_t chip, Node node, const Packet& packet);

  MeshConfig mesh_;
  std::int32_t link_bytes_;
  std::int32_t chips_;
  bool ring_;
  Delivery deliver_;
  std::vector<std::unique_ptr<Network>> meshes_;  ///< null: the chip is not used
  bool fault_without_mesh_ = false;
  std::unique_ptr<ChipLinks> links_;
};

}  // namespace logos::spatial
