#pragma once

#include <cstdint>

#include "spatial/network/network.h"

namespace logos::spatial {

/// Back-pressure at random: which cycles a link takes nothing in, by seed. Cycles count from
/// `origin`, so that a run is repeated by another that begins later.
class LinkClosure {
 public:
  /// `closed_of_256`: 0 to 255, else Error.
  LinkClosure(std::uint64_t seed, std::int32_t closed_of_256, Cycles origin);

  bool closed(std::size_t link, Cycles cycle) const {
    return share_ != 0 && (scatter(seed_ ^ (link << 40) ^ (cycle - origin_)) & 255) < share_;
  }
  /// Whether any link is ever closed.
  bool closes() const { return share_ != 0; }
  /// splitmix64's finalizer (Steele, Lea, Flood 2014): each bit depends on all.
  static std::uint64_t scatter(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t share_;
  Cycles origin_;
};

}  // namespace logos::spatial
