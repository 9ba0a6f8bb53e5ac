#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "spatial/network/network.h"

namespace logos::spatial {

/// What is due in one of the next `longest` cycles: a slot for each.
template <typename T>
class Wheel {
 public:
  explicit Wheel(Cycles longest) : slots_(std::bit_ceil(longest + 1)) {}

  /// `when` lies 1 to `longest` cycles ahead of the last `take`.
  void push(Cycles when, T thing) {
    slot(when).push_back(thing);
    ++pending_;
  }
  /// Calls `use` for all that is due now; it may push.
  template <typename Use>
  void take(Cycles now, Use use) {
    std::vector<T>& due = slot(now);
    pending_ -= due.size();
    for (const T& thing : due) use(thing);
    due.clear();
  }
  std::size_t pending() const { return pending_; }

 private:
  std::vector<T>& slot(Cycles when) { return slots_[when & (slots_.size() - 1)]; }

  std::vector<std::vector<T>> slots_;
  std::size_t pending_ = 0;
};

}  // namespace logos::spatial
