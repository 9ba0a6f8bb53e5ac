#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "spatial/network/mesh_shape.h"

namespace logos::spatial {

/// Channels coming into a router (or into a tile), and their counterparts going out of the one
/// before, are numbered alike: (node * kPorts + port) * channels + channel; behind those of all
/// routers, node * channels + channel, come the tiles' own (into a tile from its router, out of
/// a tile into its router).
using Channel = std::int32_t;

/// A packet's part that lies in an incoming channel.
struct Stored {
  std::int32_t packet = -1;
  std::uint16_t flits = 0;    ///< of the whole packet
  std::uint16_t arrived = 0;  ///< of them
};

/// An incoming channel: a ring of packets, and how far the branches of the first have come.
struct Inflow {
  std::uint16_t first = 0;
  std::uint16_t packets = 0;
  std::uint16_t freed = 0;  ///< flits of the first packet that all branches have sent
  Ports fork = 0;           ///< its branches; 0 until it is routed
  Ports claimed = 0;        ///< those that hold a channel and have flits to send
  Ports open = 0;           ///< those that have not sent all
  std::array<std::uint8_t, kPorts> channel{};
  std::array<std::uint16_t, kPorts> sent{};
};

/// A channel going out.
struct Outflow {
  Channel holder = -1;       ///< the incoming channel whose packet goes through it
  std::int16_t credits = 0;  ///< flits that the next buffer has room for
};

/// Whose turn it is in a router.
struct Turns {
  std::array<std::uint8_t, kPorts> claim{};    ///< incoming channel, by outgoing port
  std::array<std::uint8_t, kPorts> channel{};  ///< outgoing channel, by outgoing port
  std::array<std::uint8_t, kPorts> grant{};    ///< incoming port, by outgoing port
  std::array<std::uint8_t, kPorts> accept{};   ///< channel, by incoming port
};

/// What a router has to do, as sets of its incoming channels (bit port * channels + channel), and
/// whose turn it is.
struct Router {
  std::array<std::uint64_t, kPorts> waiting{};  ///< heads that want a channel, by outgoing port
  std::array<std::uint64_t, kPorts> ready{};    ///< flits that want the switch, by outgoing port
  Turns turns;
  Turns first_turns;
  Cycles idle_from = 0;  ///< the cycle after the last in which it had something to do
};

/// A tile's way into its router: packets in order, the first perhaps half sent.
struct Source {
  std::deque<std::int32_t> queue;
  std::int64_t flits = 0;
  std::int32_t sent = 0;  ///< flits of the first packet
  std::uint8_t channel = 0;
  std::uint8_t turn = 0;
  std::uint8_t first_turn = 0;
  Cycles idle_from = 0;
};

/// An incoming channel of a tile: the packet that arrives there.
struct Sink {
  std::int32_t packet = -1;
  std::int32_t flits = 0;
};

/// A set of nodes that is walked in their order.
class NodeSet {
 public:
  explicit NodeSet(Node nodes) : words_((static_cast<std::size_t>(nodes) + 63) / 64) {}
  void insert(Node node) { words_[index(node)] |= std::uint64_t{1} << (node & 63); }
  void erase(Node node) { words_[index(node)] &= ~(std::uint64_t{1} << (node & 63)); }
  /// Calls `use` for each, which may erase that node; false where there was none.
  template <typename Use>
  bool for_each(Use use) {
    bool any = false;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        any = true;
        use(static_cast<Node>(word * 64 + static_cast<std::size_t>(__builtin_ctzll(left))));
      }
    }
    return any;
  }

 private:
  static std::size_t index(Node node) { return static_cast<std::size_t>(node) >> 6; }

  std::vector<std::uint64_t> words_;
};

}  // namespace logos::spatial
