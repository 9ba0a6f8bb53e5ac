#include "rtl/board/wave/wave_board.h"

#include <fmt/format.h>
#include <verilated_fst_c.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "Vengine_wave.h"
#include "Vengine_wave___024root.h"
#include "program/error.h"
#include "rtl/board/board_of.h"
#include "rtl/lowering/instruction.h"

namespace logos::d5005 {
namespace {

constexpr std::uint64_t kMargin = 16;  // cycles before an operation's window ends
constexpr int kLevels = 99;            // of the design's hierarchy: all

/// The engine, watched at every evaluation.
class WatchedEngine : public Vengine_wave {
 public:
  explicit WatchedEngine(VerilatedContext* context) : Vengine_wave(context) {}
  ~WatchedEngine() override {
    if (fst_.isOpen()) fst_.close();
  }

  void record(const WaveWindow& window) {
    window_ = window;
    // The writer puts a new file in the place of what is there, and ends the process where it
    // cannot write: so look first.
    std::error_code error;
    const auto status = std::filesystem::status(window.file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw Error(window.file.string(), "no place for a waveform: not a regular file");
    }
    if (!std::ofstream(window.file)) throw Error(window.file.string(), "cannot write the waveform");
    trace(&fst_, kLevels);
    fst_.open(window.file.c_str());
  }

  void eval() {
    Vengine_wave::eval();
    if (!fst_.isOpen()) return;
    if (clk_i != 0 && !was_high_) count_cycle();
    was_high_ = clk_i != 0;
    // The board lowers the clocks in the moment in which the next ones rise; here it is just
    // before.
    const bool falls = clk_i == 0 && bank_clk_i == 0 && host_clk_i == 0;
    if (inside()) fst_.dump(contextp()->time() - (falls ? 1 : 0));
  }

 private:
  bool inside() const {
    if (!started_) return false;
    if (!window_.operations.empty()) return working_ != 0 || linger_ != 0;
    return cycle_ >= window_.first_cycle && cycle_ < window_.end_cycle;
  }

  void count_cycle() {
    ++cycle_;
    if (rootp->engine__DOT__begin_run != 0) {
      started_ = true;
      cycle_ = 0;
    }
    if (linger_ != 0) --linger_;
    const std::array<const std::uint32_t*, kUnits> at_hand = {
        rootp->engine__DOT__rows_instruction.data(), rootp->engine__DOT__product_instruction.data(),
        rootp->engine__DOT__heads_instruction.data(), rootp->engine__DOT__attend_instruction.data(),
        rootp->engine__DOT__store_instruction.data()};
    const unsigned starts = rootp->engine__DOT__start_valid & rootp->engine__DOT__start_ready;
    for (std::size_t u = 0; u < kUnits; ++u) {
      const unsigned unit = 1U << u;
      if ((rootp->engine__DOT__done & unit) != 0 && (working_ & unit) != 0) {
        working_ &= ~unit;
        linger_ = kMargin;
      }
      if ((starts & unit) != 0 && window_.operations.contains(line_of(at_hand[u]))) {
        working_ |= unit;
      }
    }
  }

  static std::uint32_t line_of(const std::uint32_t* words) {
    std::array<std::byte, kInstructionBytes> bytes;
    std::memcpy(bytes.data(), words, bytes.size());
    return decode(bytes).line;
  }

  VerilatedFstC fst_;
  WaveWindow window_;
  bool started_ = false;
  bool was_high_ = false;
  std::uint64_t cycle_ = 0;
  unsigned working_ = 0;  ///< units that work on what is asked for
  std::uint64_t linger_ = 0;
};

class WaveBoard : public BoardOf<WatchedEngine> {
 public:
  WaveBoard(const BoardParameters& parameters, const BoardOptions& options,
            const WaveWindow& window)
      : BoardOf(parameters, options) {
    context_->traceEverOn(true);
    model_->record(window);
  }
};

}  // namespace

std::unique_ptr<Board> make_wave_board(std::int64_t rows, std::int64_t mac_rows,
                                       const BoardParameters& parameters,
                                       const BoardOptions& options, const WaveWindow& window) {
  if (rows != 8 || mac_rows != 8) {
    throw Error("--wave", "no waveform of an engine of this size",
                fmt::format("{}/{}", rows, mac_rows), "8/8");
  }
  return std::make_unique<WaveBoard>(parameters, options, window);
}

}  // namespace logos::d5005
