#include "sim/ddr4/response_queue.h"

#include <algorithm>

namespace logos::ddr4 {

ResponseQueue::ResponseQueue(int places, ResponseOrder order)
    : order_(order),
      slots_(static_cast<std::size_t>(places)),
      line_(static_cast<std::size_t>(places)) {
  CHECK(places > 0 && places <= 1 << 16);
  for (int i = places; i > 0; --i) free_.push_back(static_cast<std::uint16_t>(i - 1));
}

std::uint16_t ResponseQueue::allocate(std::uint64_t id, std::int64_t accepted) {
  CHECK(!full());
  const std::uint16_t ticket = free_.back();
  free_.pop_back();
  Slot& slot = slots_[ticket];
  slot.complete = false;
  slot.response.id = id;
  slot.response.accepted = accepted;
  if (order_ == ResponseOrder::kInOrder) line_at(count_++) = ticket;
  return ticket;
}

void ResponseQueue::complete(std::uint16_t ticket, std::int64_t clock) {
  Slot& slot = slots_[ticket];
  slot.complete = true;
  slot.response.clock = clock;
  if (order_ == ResponseOrder::kInOrder) return;
  std::size_t place = count_++;
  for (; place > 0 && slots_[line_at(place - 1)].response.clock > clock; --place) {
    line_at(place) = line_at(place - 1);
  }
  line_at(place) = ticket;
}

void ResponseQueue::pop() {
  CHECK(count_ > 0);
  free_.push_back(line_[first_]);
  first_ = wrapped(first_ + 1);
  --count_;
}

}  // namespace logos::ddr4
