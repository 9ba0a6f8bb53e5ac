#pragma once

#include <memory>

#include "rtl/board/board.h"
#include "rtl/driver/transport.h"

namespace logos::d5005 {

/// A simulated board behind the transport.
class SimTransport : public Transport {
 public:
  /// `by_dma`: no short way into the memory, as on a card.
  SimTransport(std::unique_ptr<Board> board, bool by_dma = false);

  std::string_view name() const override { return "sim"; }
  std::uint64_t read64(std::uint32_t offset) override;
  void write64(std::uint32_t offset, std::uint64_t value) override;
  std::uint32_t read32(std::uint32_t offset) override;
  void write32(std::uint32_t offset, std::uint32_t value) override;
  HostBuffer allocate(std::size_t bytes) override;
  void release(const HostBuffer& buffer) override;
  void wait() override;
  bool preload(std::int64_t at, std::span<const std::byte> bytes) override;
  bool peek(std::int64_t at, std::span<std::byte> bytes) override;
  bool disturb(std::uint64_t seed) override;

  Board& board() { return *board_; }

 private:
  std::unique_ptr<Board> board_;
  bool by_dma_;
};

}  // namespace logos::d5005
