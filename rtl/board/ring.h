#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace logos::d5005 {

/// A first-in first-out queue that takes memory only where it has to grow: banks put a line into
/// one and take it out again in every cycle.
template <typename T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return places_[first_]; }
  const T& front() const { return places_[first_]; }

  void push_back(const T& value) {
    if (count_ == places_.size()) grow();
    places_[(first_ + count_) & (places_.size() - 1)] = value;
    ++count_;
  }
  void pop_front() {
    first_ = (first_ + 1) & (places_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> wider(2 * places_.size());
    for (std::size_t i = 0; i < count_; ++i) {
      wider[i] = places_[(first_ + i) & (places_.size() - 1)];
    }
    places_ = std::move(wider);
    first_ = 0;
  }

  std::vector<T> places_{std::vector<T>(4)};  ///< a power of two of them
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace logos::d5005
