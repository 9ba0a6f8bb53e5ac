#include "rtl/board/sim_transport.h"

#include <algorithm>

#include "program/check.h"

namespace logos::d5005 {
namespace {

constexpr std::size_t kBeatBytes = 64;
constexpr std::uint32_t kDisturbedOf256 = 48;  ///< as --stalls asks for
constexpr std::uint64_t kWaitCycles = 2000;    ///< of the engine between two looks at the status

}  // namespace

SimTransport::SimTransport(std::unique_ptr<Board> board, bool by_dma)
    : board_(std::move(board)), by_dma_(by_dma) {}

std::uint64_t SimTransport::read64(std::uint32_t offset) { return board_->read(offset); }

void SimTransport::write64(std::uint32_t offset, std::uint64_t value) {
  board_->write(offset, value, 0xFF);
}

std::uint32_t SimTransport::read32(std::uint32_t offset) {
  const std::uint64_t both = board_->read(offset & ~7U);
  return static_cast<std::uint32_t>((offset & 4U) != 0 ? both >> 32 : both);
}

void SimTransport::write32(std::uint32_t offset, std::uint32_t value) {
  const bool high = (offset & 4U) != 0;
  board_->write(offset & ~7U, std::uint64_t{value} << (high ? 32 : 0), high ? 0xF0 : 0x0F);
}

HostBuffer SimTransport::allocate(std::size_t bytes) {
  CHECK(bytes <= kMostBufferBytes);
  HostBuffer buffer;
  buffer.address = board_->host().allocate(bytes, &buffer.bytes);
  return buffer;
}

void SimTransport::release(const HostBuffer& buffer) { board_->host().release(buffer.address); }

void SimTransport::wait() { board_->advance(kWaitCycles); }

bool SimTransport::preload(std::int64_t at, std::span<const std::byte> bytes) {
  if (by_dma_) return false;
  CHECK(bytes.size() % (kBanks * kBeatBytes) == 0);
  for (std::size_t from = 0; from < bytes.size(); from += kBeatBytes) {
    const std::size_t beat = from / kBeatBytes;
    const std::uint64_t address = (static_cast<std::uint64_t>(at) + beat / kBanks) * kBeatBytes;
    board_->bank(static_cast<int>(beat % kBanks))
        .channel()
        .storage()
        .write(address, bytes.subspan(from, kBeatBytes));
  }
  return true;
}

bool SimTransport::peek(std::int64_t at, std::span<std::byte> bytes) {
  if (by_dma_) return false;
  CHECK(bytes.size() % (kBanks * kBeatBytes) == 0);
  for (std::size_t to = 0; to < bytes.size(); to += kBeatBytes) {
    const std::size_t beat = to / kBeatBytes;
    const std::uint64_t address = (static_cast<std::uint64_t>(at) + beat / kBanks) * kBeatBytes;
    board_->bank(static_cast<int>(beat % kBanks))
        .channel()
        .storage()
        .read(address, bytes.subspan(to, kBeatBytes));
  }
  return true;
}

bool SimTransport::disturb(std::uint64_t seed) {
  const std::uint32_t of_256 = seed == 0 ? 0 : kDisturbedOf256;
  for (int b = 0; b < kBanks; ++b) {
    board_->bank(b).set_stalls({of_256, seed * 7 + static_cast<std::uint64_t>(b)});
  }
  board_->host().set_stalls({of_256, seed});
  return true;
}

}  // namespace logos::d5005
