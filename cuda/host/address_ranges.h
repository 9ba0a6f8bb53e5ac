#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace logos::cuda::host {

/// Byte ranges that kernels may touch.
class AddressRanges {
 public:
  void insert(const std::byte* begin, std::size_t bytes, std::string name);
  void erase(const std::byte* begin);
  bool contains(const void* address, std::size_t bytes) const;
  std::string nearest(const void* address) const;  ///< the buffer below and how far past it

  /// From here on `contains` notes the bytes that it is asked for; how many different ones those
  /// of the last note were.
  void note_touched();
  std::uint64_t touched() const;

 private:
  struct Range {
    const std::byte* begin;
    std::size_t bytes;
    std::string name;
    mutable std::vector<bool> touched;  // empty: not noted
  };

  std::vector<Range> ranges_;  // sorted by address
};

}  // namespace logos::cuda::host
