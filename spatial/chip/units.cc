#include "spatial/chip/units.h"

#include "spatial/network/wakeup.h"

namespace logos::spatial {

void Unit::acquire(Process& process, Turn turn) {
  if (holder_ == nullptr) {
    holder_ = &process;
  } else {
    waiting_.push_back({&process, turn});
    while (holder_ != &process) process.sleep();
  }
  if (busy_until_ > Wakeup::now()) process.pause(busy_until_ - Wakeup::now());
}

void Unit::yield(Process& process, Turn turn) {
  const bool before = std::any_of(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& other) { return other.turn < turn; });
  if (!before) return;
  release();
  acquire(process, turn);
}

void Unit::release() {
  holder_ = nullptr;
  if (waiting_.empty()) return;
  const auto first =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const Waiting& a, const Waiting& b) { return a.turn < b.turn; });
  holder_ = first->process;
  Process* next = first->process;
  waiting_.erase(first);
  next->wake();
}

}  // namespace logos::spatial
