#pragma once

#include <cstdint>
#include <vector>

#include "program/check.h"
#include "sim/ddr4/parameters.h"
#include "sim/ddr4/storage.h"

namespace logos::ddr4 {

struct Response {
  std::uint64_t id;
  std::int64_t accepted;  ///< clock at which the request was taken
  std::int64_t clock;     ///< clock at which the response is at the port
  Line data;              ///< of a read; undefined otherwise
};

/// Responses of one direction between acceptance and the port. A ticket names one of its places.
class ResponseQueue {
 public:
  ResponseQueue(int places, ResponseOrder order);

  bool full() const { return free_.empty(); }
  bool empty() const { return free_.size() == slots_.size(); }

  std::uint16_t allocate(std::uint64_t id, std::int64_t accepted);
  Line& data(std::uint16_t ticket) { return slots_[ticket].response.data; }
  void complete(std::uint16_t ticket, std::int64_t clock);

  /// The next response if its time is not after `now`, else null. Holds until pop().
  const Response* front(std::int64_t now) const {
    if (count_ == 0) return nullptr;
    const Slot& slot = slots_[line_[first_]];
    return slot.complete && slot.response.clock <= now ? &slot.response : nullptr;
  }
  void pop();

 private:
  struct Slot {
    Response response;
    bool complete = false;
  };

  std::size_t wrapped(std::size_t place) const {
    return place < line_.size() ? place : place - line_.size();
  }
  std::uint16_t& line_at(std::size_t place) { return line_[wrapped(first_ + place)]; }

  ResponseOrder order_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_;
  std::vector<std::uint16_t> line_;  ///< a ring of tickets, the next to go first
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace logos::ddr4
