#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace logos::d5005 {

/// The largest buffer that the card's driver pins without pages of 1 GiB.
inline constexpr std::size_t kMostBufferBytes = std::size_t{2} << 20;

/// Memory of the host that the board reads and writes by DMA.
struct HostBuffer {
  std::span<std::byte> bytes;
  std::uint64_t address = 0;  ///< as the board names it, a multiple of 4096
};

/// The one way to a board: registers through calls, pinned buffers, and time that passes. Drivers
/// and tools cannot tell which board is behind it.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  ///< "sim", "opae"

  /// Offsets in bytes, naturally aligned. Throws Error where the board does not answer.
  virtual std::uint64_t read64(std::uint32_t offset) = 0;
  virtual void write64(std::uint32_t offset, std::uint64_t value) = 0;
  virtual std::uint32_t read32(std::uint32_t offset) = 0;
  virtual void write32(std::uint32_t offset, std::uint32_t value) = 0;

  /// At most kMostBufferBytes, zeroed. Throws Error where there is none.
  virtual HostBuffer allocate(std::size_t bytes) = 0;
  virtual void release(const HostBuffer& buffer) = 0;

  /// Lets some time pass before a register is read again.
  virtual void wait() = 0;

  /// Puts bytes into DDR outside time, from super-beat `at` on, where a board can (a simulated
  /// one); false: it cannot, copy them.
  virtual bool preload(std::int64_t /*at*/, std::span<const std::byte> /*bytes*/) { return false; }
  /// The same way back.
  virtual bool peek(std::int64_t /*at*/, std::span<std::byte> /*bytes*/) { return false; }

  /// From now on the banks and the host hold back answers at random, by seed, where a board can be
  /// asked to; 0: no longer.
  virtual bool disturb(std::uint64_t /*seed*/) { return false; }
};

}  // namespace logos::d5005
