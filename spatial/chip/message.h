#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spatial/network/network.h"

namespace logos::spatial {

/// Which executed step a message comes from, and when it had been sent: for the critical path.
struct Origin {
  std::int32_t sequencer = -1;  ///< -1: none, or the host
  std::int32_t record = -1;
  Cycles sent = 0;
};

/// A run of bytes in a row of a buffer.
struct Segment {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

enum class MessageKind : std::uint8_t {
  kData,    ///< rows of a buffer
  kCache,   ///< a key or value with its exponent
  kCredit,  ///< from a stage's leader: room for the block after `block`
  kDone     ///< to a stage's leader: a tile has done with `block`
};

using Nodes = std::shared_ptr<const std::vector<Node>>;

struct Message;

/// What a packet carries: bytes [begin, end) of a message.
struct MessagePart {
  const Message* message = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a step sends, whole: it travels in packets.
struct Message {
  MessageKind kind = MessageKind::kData;
  std::int32_t stage = -1;  ///< that it is for
  std::int32_t block = 0;
  std::int32_t from_stage = -1;  ///< of a credit

  // kData: `rows` rows from `first_row` of the block on, each of the segments one after the other.
  std::int32_t buffer = -1;
  std::int32_t chunk = 0;
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::array<Segment, 2> segments;

  // kCache: where it goes in the tile.
  std::int32_t group = -1;  ///< of the stage
  std::int32_t cache = 0;
  std::int64_t entry = 0;
  bool is_value = false;

  std::vector<std::byte> data;
  Origin origin;

  std::int32_t chip = 0;  ///< of the destinations
  Nodes nodes;
  std::vector<MessagePart> parts;
};

}  // namespace logos::spatial
