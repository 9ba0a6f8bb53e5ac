#include "spatial/chip/units.h"

namespace logos::spatial {

void Unit::acquire(Process& process, std::int32_t block) {
  if (holder_ == nullptr) {
    holder_ = &process;
    return;
  }
  waiting_.push_back({&process, block});
  while (holder_ != &process) process.sleep();
}

void Unit::release() {
  holder_ = nullptr;
  if (waiting_.empty()) return;
  const auto oldest =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const Waiting& a, const Waiting& b) { return a.block < b.block; });
  holder_ = oldest->process;
  Process* next = oldest->process;
  waiting_.erase(oldest);
  next->wake();
}

}  // namespace logos::spatial
