// What every rung stands on, tested alone: registers, resets, clocks, memory and link. So that a
// rung's failure names the part that is broken, and not the one that met it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "program/error.h"
#include "rtl/bringup/rung.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

using namespace registers;  // NOLINT: the registers by their own names

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};
constexpr int kRounds = 230;  ///< of nine reads each: one wrong read in 1,000 is met twice

constexpr std::string_view kLookAtRegisters =
    "the way to the engine's registers: is the function still bound, was the port reset; PCIe link "
    "and bridge (lspci -vv, fpgainfo errors); csr.sv";
constexpr std::string_view kLookAtReset =
    "who else has the board open; power and reset of the card's port; reset_control.sv";
constexpr std::string_view kLookAtClock = "PLL settings and lock of the clock that is named";
constexpr std::string_view kLookAtBank =
    "the bank that is named: calibration (EMIF_STAT), bank_port.sv, its DIMM";
constexpr std::string_view kLookAtHost =
    "the link to the host: PCIe errors (fpgainfo errors, lspci -vv), IOMMU, pinned pages; "
    "host_port.sv, dma.sv";

/// What reads of registers with known answers have shown.
struct Reads {
  int all = 0;
  int wrong = 0;
  int all_ones = 0;         ///< of the wrong ones
  int right_again = 0;      ///< of the wrong ones, when read once more
  int wrong_constants = 0;  ///< of the wrong ones
  std::uint32_t offset = 0;
  std::uint64_t got = 0, want = 0;  ///< of the first wrong one

  void look(Transport& board, std::uint32_t at, std::uint64_t expected, bool constant) {
    const std::uint64_t value = board.read64(at);
    ++all;
    if (value == expected) return;
    if (wrong++ == 0) {
      offset = at;
      got = value;
      want = expected;
    }
    all_ones += value == kAllOnes ? 1 : 0;
    wrong_constants += constant ? 1 : 0;
    right_again += board.read64(at) == expected ? 1 : 0;
  }

  std::string found() const {
    std::string what;
    if (all_ones == wrong) {
      what = "they are not answered (all ones)";
    } else if (right_again != 0) {
      what = "reads are wrong now and then";
    } else if (wrong_constants == 0) {
      what = "they do not keep what is written";
    } else {
      what = "they hold another value than before";
    }
    return Error("engine: registers",
                 fmt::format("{}: {} of {} reads, the first of register {:#05x}", what, wrong, all,
                             offset),
                 fmt::format("{:#x}", got), fmt::format("{:#x}", want))
        .what();
  }
};

/// The message without the board's name, which stands before what its driver finds.
std::string without_board(const Climb& climb, std::string_view message) {
  const std::string board = fmt::format("board {}: ", climb.transport.name());
  return std::string(message.substr(message.starts_with(board) ? board.size() : 0));
}

std::optional<Suspect> suspect_reset(Climb& climb) {
  try {
    climb.expect_epoch();
  } catch (const Error& error) {
    return Suspect{"engine: it was reset", error.what(), std::string(kLookAtReset)};
  }
  return std::nullopt;
}

std::optional<Suspect> suspect_clock(Climb& climb) {
  constexpr std::array<std::string_view, 6> kOwners = {"host",   "engine", "bank 0",
                                                       "bank 1", "bank 2", "bank 3"};
  std::array<std::uint64_t, kOwners.size()> before{};
  const auto offset = [](std::size_t i) { return kClockHost + 8 * static_cast<std::uint32_t>(i); };
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = climb.transport.read64(offset(i));
  climb.transport.wait();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (climb.transport.read64(offset(i)) != before[i]) continue;
    const std::string found = fmt::format("{}: its clock stands still", kOwners[i]);
    return Suspect{found, found, std::string(kLookAtClock)};
  }
  return std::nullopt;
}

/// The unit that a message of the paths' check names first.
std::optional<Suspect> suspect_of(const std::string& message) {
  constexpr std::array<std::string_view, 5> kUnits = {"host", "bank 0", "bank 1", "bank 2",
                                                      "bank 3"};
  const auto first = std::min_element(
      kUnits.begin(), kUnits.end(),
      [&](std::string_view a, std::string_view b) { return message.find(a) < message.find(b); });
  if (message.find(*first) == std::string::npos) return std::nullopt;
  const std::string unit(*first);
  return Suspect{unit, message.starts_with(unit) ? message : fmt::format("{}: {}", unit, message),
                 std::string(unit == "host" ? kLookAtHost : kLookAtBank)};
}

std::optional<Suspect> suspect_paths(Climb& climb) {
  const auto figures = climb.report->figures;
  std::optional<Suspect> suspect;
  try {
    climb.driver->reset();
    climb.transport.write64(kWatchdogLimit, climb.settings.watchdog_cycles);
    check_paths(climb);
  } catch (const std::exception& error) {
    suspect = suspect_of(without_board(climb, error.what()));
  }
  climb.report->figures = figures;
  return suspect;
}

}  // namespace

std::optional<Suspect> suspect_registers(Climb& climb) {
  Transport& board = climb.transport;
  Reads reads;
  try {
    for (int round = 0; round < kRounds; ++round) {
      // Each bit at 0 and at 1, and never what stood there before.
      const std::uint64_t mixed = 0x9E3779B97F4A7C15 * static_cast<std::uint64_t>(round / 2 + 1);
      const std::uint64_t pattern = round % 2 == 0 ? mixed : ~mixed;
      board.write64(kScratch64, pattern);
      board.write64(kScratch32, pattern);
      for (const auto& [offset, value] : climb.constants) reads.look(board, offset, value, true);
      reads.look(board, kScratch32, pattern & 0xFFFFFFFF, false);
      reads.look(board, kScratch64, pattern, false);
      if (reads.all_ones == reads.all) break;  // on a card each of them takes long to give up
    }
  } catch (const std::exception& error) {
    return Suspect{"engine: registers", fmt::format("engine: registers: {}", error.what()),
                   std::string(kLookAtRegisters)};
  }
  if (reads.wrong == 0) return std::nullopt;
  return Suspect{"engine: registers", reads.found(), std::string(kLookAtRegisters)};
}

std::optional<Suspect> suspect_parts(Climb& climb, std::string_view message) {
  constexpr int kFirstRungOfMemory = 4;
  if (!tells_cycle_limit(message)) {
    if (auto suspect = suspect_reset(climb)) return suspect;
  }
  if (auto suspect = suspect_clock(climb)) return suspect;
  return climb.report->number < kFirstRungOfMemory ? std::nullopt : suspect_paths(climb);
}

bool tells_cycle_limit(std::string_view message) {
  return message.find("cycle limit reached") != std::string_view::npos;
}

}  // namespace logos::d5005
