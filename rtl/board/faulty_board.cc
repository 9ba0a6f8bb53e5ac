#include "rtl/board/faulty_board.h"

#include <algorithm>
#include <utility>

#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

constexpr std::uint64_t kFlippedBit = std::uint64_t{1} << 13;
constexpr std::uint64_t kStuckBit = std::uint64_t{1} << 22;

/// Stands between the host and the registers of another board.
class FaultyBoard : public Board {
 public:
  FaultyBoard(std::unique_ptr<Board> board, PlantedFault fault)
      : board_(std::move(board)), fault_(fault) {}

  std::uint64_t read(std::uint32_t offset) override {
    reset_when_due();
    const std::uint64_t value = board_->read(offset);
    // What the card's bridge makes of an answer that never comes.
    if (faulty(PortFault::kSilent)) return ~std::uint64_t{0};
    if (faulty(PortFault::kBitFlip) && reads_++ % kFlipPeriod == 0) return value ^ kFlippedBit;
    return value;
  }

  void write(std::uint32_t offset, std::uint64_t value, std::uint8_t strobe) override {
    reset_when_due();
    if (faulty(PortFault::kLostWrite)) return;
    if (faulty(PortFault::kStuckBit)) value &= ~kStuckBit;
    board_->write(offset, value, strobe);
  }

  void advance(std::uint64_t engine_cycles) override {
    if (fault_.kind == PortFault::kReset) {
      const std::uint64_t now = board_->engine_cycles();
      const std::uint64_t left = fault_.cycle > now ? fault_.cycle - now : 0;
      const std::uint64_t before = std::min(left, engine_cycles);
      board_->advance(before);
      engine_cycles -= before;
    }
    reset_when_due();
    board_->advance(engine_cycles);
  }

  std::uint64_t engine_cycles() const override { return board_->engine_cycles(); }
  BankModel& bank(int index) override { return board_->bank(index); }
  HostLink& host() override { return board_->host(); }
  void check_nothing_waits() override { board_->check_nothing_waits(); }

 private:
  bool faulty(PortFault kind) const {
    return fault_.kind == kind && board_->engine_cycles() >= fault_.cycle;
  }

  void reset_when_due() {
    if (!faulty(PortFault::kReset)) return;
    fault_.kind = PortFault::kNone;
    board_->write(registers::kControl, registers::kControlReset, 0xFF);
  }

  std::unique_ptr<Board> board_;
  PlantedFault fault_;
  std::uint64_t reads_ = 0;
};

}  // namespace

std::unique_ptr<Board> with_register_fault(std::unique_ptr<Board> board, PlantedFault fault) {
  return std::make_unique<FaultyBoard>(std::move(board), fault);
}

}  // namespace logos::d5005
