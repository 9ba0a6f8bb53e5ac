#include "spatial/chip/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "program/divide_up.h"
#include "program/error.h"
#include "spatial/network/flit_mesh.h"
#include "spatial/network/packet_mesh.h"

namespace logos::spatial {
namespace {

/// Cycles of 256 in which a link takes nothing where stalls are asked for: enough that every queue
/// fills up now and then.
constexpr std::int32_t kStalledOf256 = 64;

/// What a chip can hold of messages that pass through it, per way in: packets are much smaller.
constexpr std::int64_t kTransitBytes = std::int64_t{64} << 10;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

MeshMaker mesh_maker(const ChipConfig& config) {
  return config.network == NetworkModel::kFlit ? MeshMaker(make_flit_mesh)
                                               : MeshMaker(make_packet_mesh);
}

Transport::Transport(const ChipConfig& config, const std::vector<bool>& used,
                     const TransportOptions& options, const MeshMaker& make, Delivery deliver,
                     const Drained& drained)
    : mesh_(config.mesh),
      link_bytes_(config.link_bytes),
      chips_(static_cast<std::int32_t>(used.size())),
      ring_(config.topology == Topology::kRing),
      deliver_(std::move(deliver)) {
  const std::int32_t closed = options.stalls ? kStalledOf256 : 0;
  for (std::int32_t chip = 0; chip < chips_; ++chip) {
    MeshOptions mesh_options;
    mesh_options.seed = options.seed + static_cast<std::uint64_t>(chip);
    mesh_options.closed_of_256 = closed;
    if (at(chip) < options.faults.size()) mesh_options.fault = options.faults[at(chip)];
    auto& mesh = meshes_.emplace_back();
    if (!used[at(chip)]) {
      fault_without_mesh_ |= mesh_options.fault.has_value();
      continue;
    }
    mesh = make(mesh_, mesh_options);
    mesh->on_arrival([this, chip](Node node, const Packet& packet) { arrive(chip, node, packet); });
    mesh->on_drained([drained, chip](Node node) { drained(chip, node); });
  }
  if (chips_ < 2) return;
  ChipLinksConfig links;
  links.chips = chips_;
  links.ring = ring_;
  links.bytes_per_cycle = config.chip_link_bytes_per_second / config.clock_hz;
  links.latency_cycles =
      static_cast<Cycles>(std::llround(config.chip_link_seconds * config.clock_hz));
  links.transit_bytes = kTransitBytes;
  links_ = std::make_unique<ChipLinks>(links, options.seed, closed);
  links_->on_arrival([this](const ChipMessage& arrived) {
    const auto part = std::static_pointer_cast<const MessagePart>(arrived.payload);
    const std::shared_ptr<const Message> message(arrived.payload, part->message);
    enter(arrived.to, gateway(!goes_up(arrived.from, arrived.to)), message, *part, message->nodes);
  });
}

/// By the shorter way; half-way around a ring even chips send upward and odd ones downward, as the
/// links do.
bool Transport::goes_up(std::int32_t from, std::int32_t to) const {
  if (!ring_ || chips_ < 3) return to > from;
  const std::int32_t above = (to - from + chips_) % chips_;
  return 2 * above < chips_ || (2 * above == chips_ && from % 2 == 0);
}

Node Transport::gateway(bool east) const {
  return mesh_.height / 2 * mesh_.width + (east ? mesh_.width - 1 : 0);
}

void Transport::cut(Message& message) const {
  const std::int64_t longest = std::int64_t{mesh_.buffer_flits} * link_bytes_;
  const auto bytes = static_cast<std::int64_t>(message.data.size());
  std::int64_t begin = 0;
  do {
    const std::int64_t end = std::min(bytes, begin + longest);
    message.parts.push_back({&message, begin, end});
    begin = end;
  } while (begin < bytes);
}

std::int64_t Transport::flits_of(const MessagePart& part) const {
  return std::max<std::int64_t>(1, divide_up(part.end - part.begin, link_bytes_));
}

void Transport::send(std::int32_t chip, Node node, const std::shared_ptr<const Message>& message,
                     const MessagePart& part) {
  if (message->chip == chip) {
    enter(chip, node, message, part, message->nodes);
    return;
  }
  const Node way_out = gateway(goes_up(chip, message->chip));
  if (way_out == node) {
    leave(chip, message, part);
  } else {
    enter(chip, node, message, part, std::make_shared<const std::vector<Node>>(1, way_out));
  }
}

/// Into a chip's mesh at a node; what is for that very tile does not travel.
void Transport::enter(std::int32_t chip, Node node, const std::shared_ptr<const Message>& message,
                      const MessagePart& part, const Nodes& nodes) {
  Nodes others = nodes;
  if (std::binary_search(nodes->begin(), nodes->end(), node)) {
    auto rest = std::make_shared<std::vector<Node>>(*nodes);
    rest->erase(std::find(rest->begin(), rest->end(), node));
    others = rest;
    deliver_(chip, node, part);
  }
  if (others->empty()) return;
  Packet packet;
  packet.source = node;
  packet.destinations = others;
  packet.flits = static_cast<std::int32_t>(flits_of(part));
  packet.payload = std::shared_ptr<const void>(message, &part);
  meshes_[at(chip)]->send(std::move(packet));
}

void Transport::leave(std::int32_t chip, const std::shared_ptr<const Message>& message,
                      const MessagePart& part) {
  ChipMessage out;
  out.from = chip;
  out.to = message->chip;
  out.bytes = std::max<std::int64_t>(1, part.end - part.begin);
  out.payload = std::shared_ptr<const void>(message, &part);
  links_->send(std::move(out));
}

void Transport::arrive(std::int32_t chip, Node node, const Packet& packet) {
  const auto& part = *static_cast<const MessagePart*>(packet.payload.get());
  if (part.message->chip == chip) {
    deliver_(chip, node, part);
  } else {
    leave(chip, std::shared_ptr<const Message>(packet.payload, part.message), part);
  }
}

std::vector<std::vector<LinkLoad>> Transport::link_loads() const {
  std::vector<std::vector<LinkLoad>> loads;
  for (const auto& mesh : meshes_) {
    loads.push_back(mesh ? mesh->link_loads() : std::vector<LinkLoad>{});
  }
  return loads;
}

std::vector<ChipLinkLoad> Transport::chip_link_loads() const {
  return links_ ? links_->loads() : std::vector<ChipLinkLoad>{};
}

std::vector<std::string> Transport::warnings() const {
  std::vector<std::string> warnings;
  for (std::size_t chip = 0; chip < meshes_.size(); ++chip) {
    const std::string warning = meshes_[chip] ? meshes_[chip]->warning() : "";
    if (!warning.empty()) warnings.push_back(fmt::format("chip {}: {}", chip, warning));
  }
  return warnings;
}

bool Transport::fault_waits() const {
  return fault_without_mesh_ || std::any_of(meshes_.begin(), meshes_.end(), [](const auto& mesh) {
           return mesh && mesh->fault_waits();
         });
}

std::string Transport::unfinished() const {
  std::string lines;
  for (std::size_t chip = 0; chip < meshes_.size(); ++chip) {
    const std::string left = meshes_[chip] ? meshes_[chip]->unfinished() : "";
    if (!left.empty()) lines += fmt::format("network of chip {}: {}\n", chip, left);
  }
  const std::string left = links_ ? links_->unfinished() : "";
  if (!left.empty()) lines += fmt::format("links between chips: {}\n", left);
  return lines;
}

}  // namespace logos::spatial
