#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "sim/ddr4/parameters.h"

namespace logos::ddr4 {

using Line = std::array<std::byte, kLineBytes>;

/// What memory holds before anything is written: a 32-bit word, little-endian, over and over, or
/// noise, a function of address and seed.
struct FillPattern {
  std::uint32_t word = 0;
  bool noise = false;
  std::uint64_t seed = 0;
};

/// The bytes of a channel, sparse: pages come into being when they first hold something else.
class Storage {
 public:
  Storage(std::uint64_t bytes, const FillPattern& fill);

  std::uint64_t bytes() const { return bytes_; }

  /// The line that holds `address` (which is below bytes()).
  void read_line(std::uint64_t address, Line& line) const;
  /// Writes the bytes of `line` whose bit in `byte_enable` is set.
  void write_line(std::uint64_t address, const Line& line, std::uint64_t byte_enable);

  /// Any range, without time: how a board loads its image and reads back results. Refuses a range
  /// that leaves the memory.
  void read(std::uint64_t address, std::span<std::byte> to) const;
  void write(std::uint64_t address, std::span<const std::byte> from);

  /// Tells the host's caches that this line is wanted soon; changes nothing.
  void prefetch(std::uint64_t address) const {
    if (const std::byte* page = page_of(address); page != nullptr) {
      __builtin_prefetch(page + address % kPageBytes);
    }
  }

 private:
  static constexpr std::uint64_t kPageBytes = 1 << 12;
  static constexpr std::uint64_t kFolderPages = 1 << 10;
  static constexpr std::uint64_t kFolderBytes = kPageBytes * kFolderPages;
  static constexpr std::size_t kSlabPages = 512;  // 2 MiB, a huge page of the host
  using Folder = std::unique_ptr<std::array<std::byte*, kFolderPages>>;

  const std::byte* page_of(std::uint64_t address) const {
    const Folder& folder = folders_[address / kFolderBytes];
    return folder == nullptr ? nullptr : (*folder)[address / kPageBytes % kFolderPages];
  }
  std::byte* new_page();
  /// `filled`: false if the caller writes all of a page that is new.
  std::byte* page_for_writing(std::uint64_t address, bool filled = true);
  void fill_line(std::uint64_t address, std::byte* line) const;
  void check_range(std::uint64_t address, std::size_t count) const;

  std::uint64_t bytes_;
  FillPattern fill_;
  Line constant_line_;           ///< of a pattern that is not noise
  std::vector<Folder> folders_;  ///< pages by address
  struct Free {
    void operator()(std::byte* slab) const { std::free(slab); }
  };
  std::vector<std::unique_ptr<std::byte, Free>>
      slabs_;  ///< pages in the order they came into being
  std::size_t pages_ = 0;
};

}  // namespace logos::ddr4
