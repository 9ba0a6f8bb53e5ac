#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rtl/lowering/layout.h"

namespace logos::d5005 {

/// Joins small writes, which come in any order, into few large ones, for each copy to a card costs
/// microseconds: up to `most_bytes` are held, then written in the order of their addresses, what
/// lies together at once. Of two writes to the same super-beats the later one counts.
class GatheredWrites {
 public:
  GatheredWrites(std::size_t most_bytes, SuperBeatSink sink);

  /// Whole super-beats, from super-beat `at` on.
  void write(std::int64_t at, std::span<const std::byte> bytes);
  /// Writes what is held; who ends without it loses that.
  void flush();

 private:
  std::size_t most_bytes_;
  SuperBeatSink sink_;
  std::map<std::int64_t, std::vector<std::byte>> held_;  ///< by first super-beat, none overlap
  std::size_t held_bytes_ = 0;
};

}  // namespace logos::d5005
