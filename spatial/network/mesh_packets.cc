#include "spatial/network/mesh_packets.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "program/check.h"
#include "program/error.h"

namespace logos::spatial {
namespace {

std::string nodes_text(const std::vector<Node>& nodes) {
  constexpr std::size_t kShown = 4;
  if (nodes.size() <= kShown) return fmt::format("{}", fmt::join(nodes, ", "));
  return fmt::format("{}, … {} tiles", fmt::join(nodes.begin(), nodes.begin() + kShown, ", "),
                     nodes.size());
}

std::string packet_name(const MeshPackets::UnderWay& packet) {
  return fmt::format("packet {} ({} -> {}; {} flits)", packet.serial, packet.packet.source,
                     nodes_text(*packet.packet.destinations), packet.packet.flits);
}

}  // namespace

bool PlantedFault::count() {
  if (fault_->spared > 0) {
    --fault_->spared;
    return false;
  }
  fault_.reset();
  return true;
}

void MeshPackets::check(const Packet& packet) const {
  const std::string tiles = fmt::format("0 to {}", shape_.nodes() - 1);
  const auto outside = [&](Node node) { return node < 0 || node >= shape_.nodes(); };
  if (outside(packet.source)) {
    throw Error("mesh", "a packet's source is no tile", std::to_string(packet.source), tiles);
  }
  if (packet.flits < 1 || packet.flits > longest_) {
    throw Error("mesh", "a packet's flits do not fit a channel's buffer",
                std::to_string(packet.flits), fmt::format("1 to {}", longest_));
  }
  if (!packet.destinations || packet.destinations->empty()) {
    throw Error("mesh", "a packet has no destination");
  }
  const std::vector<Node>& nodes = *packet.destinations;
  if (std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) != nodes.end()) {
    throw Error("mesh", "a packet's destinations do not ascend");
  }
  for (const Node node : {nodes.front(), nodes.back()}) {
    if (outside(node)) {
      throw Error("mesh", "a packet's destination is no tile", std::to_string(node), tiles);
    }
  }
}

bool MeshPackets::lead_astray(UnderWay& packet) const {
  std::vector<Node> nodes = *packet.packet.destinations;
  for (Node offset = 1; offset < shape_.nodes(); ++offset) {
    const Node other = (nodes.front() + offset) % shape_.nodes();
    if (std::binary_search(nodes.begin(), nodes.end(), other)) continue;
    nodes.front() = other;
    packet.astray = std::move(nodes);
    return true;
  }
  return false;
}

std::int32_t MeshPackets::add(Packet packet, Cycles now, PlantedFault& fault) {
  check(packet);
  if (free_.empty()) {
    free_.push_back(static_cast<std::int32_t>(packets_.size()));
    packets_.emplace_back();
  }
  const std::int32_t id = free_.back();
  free_.pop_back();
  UnderWay& entry = packets_[static_cast<std::size_t>(id)];
  entry.packet = std::move(packet);
  entry.serial = sent_++;
  entry.sent = now;
  entry.missing = entry.packet.destinations->size();
  entry.astray.clear();
  const bool elsewhere = entry.missing < static_cast<std::size_t>(shape_.nodes());
  if (elsewhere && fault.strikes(MeshFault::Kind::kSwappedDestination, now)) {
    CHECK(lead_astray(entry));
  }
  return id;
}

void MeshPackets::lay_route(std::int32_t id) {
  UnderWay& packet = packets_[static_cast<std::size_t>(id)];
  packet.forks.clear();
  if (packet.missing > 1) shape_.lay_tree(packet.packet.source, goals(packet), packet.forks);
}

void MeshPackets::arrive(std::int32_t id, Node node, const Network::Arrival& arrival) {
  UnderWay& packet = packets_[static_cast<std::size_t>(id)];
  CHECK(packet.missing > 0);
  const std::vector<Node>& wanted = *packet.packet.destinations;
  if (misled_.empty() && !std::binary_search(wanted.begin(), wanted.end(), node)) {
    misled_ = fmt::format("{} arrived at tile {}", packet_name(packet), node);
  }
  if (arrival) arrival(node, packet.packet);
  if (--packet.missing > 0) return;
  packet.packet = Packet();
  free_.push_back(id);
}

std::string MeshPackets::name(std::int32_t id) const { return packet_name((*this)[id]); }

std::vector<std::string> MeshPackets::unfinished() const {
  std::vector<std::string> lines;
  if (!misled_.empty()) lines.push_back(misled_);
  for (const UnderWay& packet : packets_) {
    if (packet.missing == 0) continue;
    lines.push_back(
        fmt::format("{} has not reached {} of its tiles", packet_name(packet), packet.missing));
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 20;
  std::string text;
  for (std::size_t line = 0; line < std::min(lines.size(), kShown); ++line) {
    text += lines[line] + '\n';
  }
  if (lines.size() > kShown) text += fmt::format("and {} lines more\n", lines.size() - kShown);
  return text;
}

}  // namespace logos::spatial
