#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "program/divide_up.h"
#include "spatial/chip/process.h"

namespace logos::spatial {

/// The port of a tile's SRAM: so many bytes a cycle, shared by all that reads and writes. Arrivals,
/// the vector unit and the sender cannot wait; the MAC array's stream takes what they leave. Time
/// is counted in bytes (cycle times bytes a cycle), so that small accesses share a cycle.
class SramPort {
 public:
  explicit SramPort(std::int64_t bytes_per_cycle)
      : rate_(static_cast<std::uint64_t>(bytes_per_cycle)) {}

  /// Reads or writes now, behind other such accesses; the cycle in which that is done.
  Cycles access(Cycles now, std::int64_t bytes) {
    bytes_ += static_cast<std::uint64_t>(bytes);
    urgent_ = add(urgent_, now, bytes);
    all_ = add(all_, now, bytes);
    return cycle_of(urgent_);
  }
  /// Begins to read for the MAC array. It is done in cycle `stream_end`, which accesses push on.
  void stream(Cycles now, std::int64_t bytes) {
    bytes_ += static_cast<std::uint64_t>(bytes);
    all_ = add(all_, now, bytes);
  }
  Cycles stream_end() const { return cycle_of(all_); }

  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t add(std::uint64_t until, Cycles now, std::int64_t bytes) const {
    return std::max(until, now * rate_) + static_cast<std::uint64_t>(bytes);
  }
  Cycles cycle_of(std::uint64_t until) const { return divide_up(until, rate_); }

  std::uint64_t rate_;
  std::uint64_t urgent_ = 0;
  std::uint64_t all_ = 0;
  std::uint64_t bytes_ = 0;
};

/// What a unit is wanted for. Short work goes first, else a block that begins would wait for the
/// long products of the one before, and its exchanges, which need no unit, would hide nothing; of
/// equally long work that of the older block.
struct Turn {
  Cycles work = 0;  ///< cycles of the whole step
  std::int32_t block = 0;
  auto operator<=>(const Turn&) const = default;
};

/// A unit of a tile that one sequencer has at a time.
class Unit {
 public:
  /// Returns when the process has the unit.
  void acquire(Process& process, Turn turn);
  /// Between two pieces of its work: lets those go first whose turn comes before.
  void yield(Process& process, Turn turn);
  void release();
  /// Keeps the unit busy until a cycle; who has it may release it at once.
  void keep_until(Cycles cycle) { busy_until_ = cycle; }

  Cycles busy = 0;  ///< cycles in which it worked

 private:
  struct Waiting {
    Process* process;
    Turn turn;
  };

  const Process* holder_ = nullptr;
  Cycles busy_until_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace logos::spatial
