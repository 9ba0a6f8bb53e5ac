#include "sim/ddr4/request_queue.h"

namespace logos::ddr4 {

RequestQueue::RequestQueue(int waiting_places, int bank_places, int banks)
    : waiting_places_(waiting_places), bank_places_(bank_places) {
  const std::size_t places = slot(waiting_places + bank_places * banks);
  CHECK(places < 1U << 15U);
  nodes_.resize(places);
  for (std::size_t i = places; i > 0; --i) free_.push_back(static_cast<std::int16_t>(i - 1));
}

int RequestQueue::push(const Pending& pending) {
  CHECK(has_room());
  const std::int16_t index = free_.back();
  free_.pop_back();
  List& list = list_[pending.bank];
  Node& node = nodes_[slot(index)];
  node = {pending, kNone, list.tail, kNone, youngest_};
  (list.tail == kNone ? list.head : nodes_[slot(list.tail)].next) = index;
  list.tail = index;
  (youngest_ == kNone ? oldest_ : nodes_[slot(youngest_)].younger) = index;
  youngest_ = index;
  if (list.count >= bank_places_) ++waiting_;
  ++list.count;
  ++size_;
  banks_ |= one_bank(pending.bank);
  ++filter_[filter_slot(pending.address)];
  return index;
}

void RequestQueue::remove(int index) {
  const Node& node = nodes_[slot(index)];
  List& list = list_[node.pending.bank];
  (node.previous == kNone ? list.head : nodes_[slot(node.previous)].next) = node.next;
  (node.next == kNone ? list.tail : nodes_[slot(node.next)].previous) = node.previous;
  (node.older == kNone ? oldest_ : nodes_[slot(node.older)].younger) = node.younger;
  (node.younger == kNone ? youngest_ : nodes_[slot(node.younger)].older) = node.older;
  if (list.count > bank_places_) --waiting_;
  --list.count;
  --size_;
  if (list.count == 0) banks_ &= ~one_bank(node.pending.bank);
  --filter_[filter_slot(node.pending.address)];
  free_.push_back(static_cast<std::int16_t>(index));
}

int RequestQueue::youngest_for(int bank, std::uint64_t address) const {
  if (filter_[filter_slot(address)] == 0) return kNone;
  for (int index = list_[slot(bank)].tail; index != kNone; index = nodes_[slot(index)].previous) {
    if (nodes_[slot(index)].pending.address == address) return index;
  }
  return kNone;
}

}  // namespace logos::ddr4
