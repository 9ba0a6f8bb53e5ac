#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "spatial/network/network.h"

namespace logos::spatial {

/// What is to happen by cycle: the next 256 cycles in slots, what lies beyond in a heap. (A heap
/// alone takes two to three times as long for the events of a packet mesh.) What happens in one
/// cycle stays in the order in which it was pushed, so that runs that begin at different times are
/// alike.
template <typename T>
class Calendar {
 public:
  /// `when`: not before the last `take`.
  void push(Cycles when, const T& thing) {
    if (when - start_ < kSlots) {
      put(when, thing);
      return;
    }
    far_.push_back({when, pushed_++, thing});
    std::push_heap(far_.begin(), far_.end(), later);
  }
  bool empty() const { return near_ == 0 && far_.empty(); }
  /// The cycle of the first thing; there is one.
  Cycles next() const {
    if (near_ == 0) return far_.front().when;
    for (Cycles ahead = 0;;) {
      const std::size_t at = (start_ + ahead) % kSlots;
      const std::uint64_t word = marks_[at / 64] >> (at % 64);
      if (word != 0) return start_ + ahead + static_cast<Cycles>(std::countr_zero(word));
      ahead += 64 - at % 64;
    }
  }
  /// Calls `use` for all that happens in cycle `now`; it may push for later cycles. Nothing earlier
  /// is left.
  template <typename Use>
  void take(Cycles now, Use use) {
    take(now, use, [](std::vector<T>&) {});
  }
  /// The same in the order that `arrange` brings them into.
  template <typename Use, typename Arrange>
  void take(Cycles now, Use use, Arrange arrange) {
    start_ = now;
    while (!far_.empty() && far_.front().when - start_ < kSlots) {
      std::pop_heap(far_.begin(), far_.end(), later);
      put(far_.back().when, far_.back().thing);
      far_.pop_back();
    }
    std::vector<T>& slot = slots_[now % kSlots];
    if (slot.empty()) return;
    arrange(slot);
    for (const T& thing : slot) use(thing);
    near_ -= slot.size();
    slot.clear();
    marks_[now % kSlots / 64] &= ~(std::uint64_t{1} << now % 64);
  }

 private:
  static constexpr Cycles kSlots = 256;

  struct Far {
    Cycles when;
    std::uint64_t place;
    T thing;
  };

  static bool later(const Far& a, const Far& b) {
    return a.when != b.when ? a.when > b.when : a.place > b.place;
  }
  void put(Cycles when, const T& thing) {
    slots_[when % kSlots].push_back(thing);
    marks_[when % kSlots / 64] |= std::uint64_t{1} << when % 64;
    ++near_;
  }

  Cycles start_ = 0;
  std::array<std::vector<T>, kSlots> slots_;
  std::array<std::uint64_t, kSlots / 64> marks_{};
  std::size_t near_ = 0;
  std::vector<Far> far_;
  std::uint64_t pushed_ = 0;  ///< into far_
};

}  // namespace logos::spatial
