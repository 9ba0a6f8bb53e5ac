#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spatial/network/calendar.h"
#include "spatial/network/link_closure.h"
#include "spatial/network/wakeup.h"

namespace logos::spatial {

using Chip = std::int32_t;

/// Chips 0, 1, … side by side; a ring also joins the last to the first, where there are three or
/// more. Between neighbours lies a link in each direction.
struct ChipLinksConfig {
  std::int32_t chips = 0;
  bool ring = false;
  double bytes_per_cycle = 0;  ///< of a link
  Cycles latency_cycles = 0;   ///< from a byte's leaving to its arrival
  std::int64_t transit_bytes =
      0;  ///< room in a chip for what passes through, per way in and channel
};

struct ChipMessage {
  Chip from = 0;
  Chip to = 0;
  std::int64_t bytes = 0;
  std::shared_ptr<const void> payload;  ///< the links do not look into it
};

/// What a link did since the links were made.
struct ChipLinkLoad {
  Chip from = 0;
  Chip to = 0;
  std::int64_t bytes = 0;
  Cycles busy_cycles = 0;     ///< a message was on its way onto the link, closed cycles among them
  Cycles stalled_cycles = 0;  ///< free, and a message waited for room in the next chip
  std::int64_t peak_bytes = 0;  ///< most that waited for it at once, with what was being sent
};

/// Carries messages between chips whole (store and forward), the shortest way; half-way around a
/// ring even chips send upward and odd ones downward. A message of b bytes that is sent in cycle
/// t over a free link is in the next chip in cycle t + ceil(b / bytes_per_cycle) + latency_cycles.
/// Messages of one chip to one other arrive in the order they were sent. The destination has room:
/// who sends knows that its landing buffer exists.
///
/// No ring of messages can wait for each other: a message goes on only where the next chip has
/// room for it, and in a ring that room is taken from a second channel once the message has passed
/// between the last chip and the first (a dateline). So rooms are asked for in an order that never
/// comes back to where it began, and the last of them empties into a destination.
class ChipLinks {
 public:
  using Arrival = std::function<void(const ChipMessage&)>;

  /// Throws Error naming the key that no links can have. `closed_of_256`: cycles of 256 in which
  /// a link carries nothing, by seed.
  explicit ChipLinks(const ChipLinksConfig& config, std::uint64_t seed = 1,
                     std::int32_t closed_of_256 = 0);

  /// Throws Error where the message does not fit the links.
  void send(ChipMessage message);
  /// Called in the cycle in which a message's last byte has arrived; it may send.
  void on_arrival(Arrival arrival) { arrival_ = std::move(arrival); }

  /// By chip; upward, then downward.
  std::vector<ChipLinkLoad> loads() const;
  /// "" where nothing is under way, else a line for each link that has messages.
  std::string unfinished() const;

 private:
  static constexpr int kChannels = 2;

  struct Travelling {
    ChipMessage message;
    Chip at = 0;
    int direction = 0;
    int channel = 0;
  };
  struct Link {
    ChipLinkLoad load;
    bool exists = false;
    bool dateline = false;
    bool busy = false;
    int turn = 0;  ///< the channel to serve first
    std::array<std::deque<std::int32_t>, kChannels> waiting;
    /// Room of its chip that messages from other chips hold until they have left by this link.
    std::array<std::int64_t, kChannels> transit{};
    std::int64_t waiting_bytes = 0;
    Cycles stalled_from = 0;
    bool stalled = false;
  };
  struct Event {
    bool arrives = false;  ///< at the next chip; else the link has taken the last byte
    std::int32_t message = 0;
  };

  void check(const ChipMessage& message) const;
  int direction(Chip from, Chip to) const;
  std::int32_t hops(Chip from, Chip to, int direction) const;
  Chip next(Chip chip, int direction) const;
  Link& link(Chip chip, int direction) {
    return links_[static_cast<std::size_t>(std::int64_t{chip} * 2 + direction)];
  }
  void enqueue(std::int32_t id);
  void start(Link& over);
  bool start_first(Link& over, int channel);
  bool has_room(const Travelling& travelling, const Link& over);
  Cycles end_of(const Link& over, std::int64_t bytes) const;
  void step();
  void leave(std::int32_t id);
  void arrive(std::int32_t id);

  ChipLinksConfig config_;
  LinkClosure closure_;
  std::vector<Link> links_;
  std::deque<Travelling> travelling_;  // a message that is being announced stays where it is
  std::vector<std::int32_t> free_;
  Calendar<Event> events_;
  Arrival arrival_;
  Wakeup wakeup_;
};

}  // namespace logos::spatial
