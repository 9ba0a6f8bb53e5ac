#include <fmt/core.h>

#include "spatial/network/flit_mesh_model.h"

// What a flit mesh says of itself when it has come to rest.
namespace logos::spatial {

std::string FlitMesh::channel_name(Channel at) const {
  if (at >= tiles_) {
    const Channel own = at - tiles_;
    return fmt::format("tile {}, channel {}", own / channels_, own % channels_);
  }
  return fmt::format("router {}, {}, channel {}", at / (kPorts * channels_),
                     port_name(at / channels_ % kPorts), at % channels_);
}

std::string FlitMesh::branch_line(Channel at, int port) const {
  const Inflow& inflow = inflow_of(at);
  const Stored& packet = stored_[place(at, 0)];
  const Node node = at / (kPorts * channels_);
  std::string line = fmt::format("from {}: {}, {} flits here, to {}", channel_name(at),
                                 packets_.name(packet.packet), packet.arrived, port_name(port));
  if (inflow.claimed >> port & 1) {
    return line + fmt::format(": {} sent by channel {}, waits for the next",
                              inflow.sent[static_cast<std::size_t>(port)],
                              inflow.channel[static_cast<std::size_t>(port)]);
  }
  line += fmt::format(" waits for a channel with room for {}:", packet.flits);
  for (int candidate = 0; candidate < channels_; ++candidate) {
    const Outflow& outflow = outflow_of(channel(node, port) + candidate);
    line += fmt::format(" {} has {}", candidate, outflow.credits);
    if (outflow.holder >= 0) {
      line += fmt::format(", held by {} from {}",
                          packets_.name(stored_[place(outflow.holder, 0)].packet),
                          channel_name(outflow.holder));
    }
    line += candidate + 1 < channels_ ? ";" : "";
  }
  return line;
}

std::vector<std::string> FlitMesh::waiting_lines() const {
  std::vector<std::string> lines;
  for (Channel at = 0; at < tiles_; ++at) {
    const Inflow& inflow = inflow_of(at);
    if (inflow.packets == 0) continue;
    for (int port = 0; port < kPorts; ++port) {
      if (inflow.open >> port & 1) lines.push_back(branch_line(at, port));
    }
    for (int behind = 1; behind < inflow.packets; ++behind) {
      lines.push_back(fmt::format("from {}: {} waits behind it", channel_name(at),
                                  packets_.name(stored_[place(at, behind)].packet)));
    }
  }
  for (std::size_t at = 0; at < sinks_.size(); ++at) {
    if (sinks_[at].packet < 0) continue;
    lines.push_back(fmt::format("to {}: {}, {} flits arrived",
                                channel_name(tiles_ + static_cast<Channel>(at)),
                                packets_.name(sinks_[at].packet), sinks_[at].flits));
  }
  for (Node node = 0; node < shape_.nodes(); ++node) {
    const Source& source = sources_[static_cast<std::size_t>(node)];
    if (source.queue.empty()) continue;
    lines.push_back(fmt::format("tile {}: {} packets wait, first {}, {} flits of it sent", node,
                                source.queue.size(), packets_.name(source.queue.front()),
                                source.sent));
  }
  return lines;
}

std::string FlitMesh::unfinished() const {
  std::vector<std::string> lines = packets_.unfinished();
  for (std::string& line : waiting_lines()) lines.push_back(std::move(line));
  if (flying_.pending() + credits_.pending() > 0) {
    lines.push_back(
        fmt::format("{} flits and {} credits are on links", flying_.pending(), credits_.pending()));
  }
  for (std::size_t at = 0; at < outflows_.size(); ++at) {
    if (outflows_[at].credits == config_.buffer_flits) continue;
    lines.push_back(fmt::format("out of {}: {} of {} credits are back",
                                channel_name(static_cast<Channel>(at)), outflows_[at].credits,
                                config_.buffer_flits));
  }
  return join_lines(lines);
}

}  // namespace logos::spatial
