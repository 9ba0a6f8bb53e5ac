#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "rtl/lowering/instruction.h"
#include "rtl/lowering/plan.h"
#include "sim/ddr4/counters.h"

namespace logos::d5005 {

/// The events of a cycle that `engine_registers` counts, in the order of its registers.
inline constexpr int kEngineEvents = 39;
inline constexpr int kBankEvents = 8;   ///< the first of bank 0: beat, waiting, full, written
inline constexpr int kUnitEvents = 24;  ///< the first of unit 0: busy, stalled on input, on output

/// What one looks at after each edge of an engine's clock.
struct EngineSight {
  std::uint64_t events = 0;                     ///< a bit each; bit 0: the cycle counts
  std::array<std::uint16_t, kUnits> started{};  ///< instructions of this pass, by unit
  std::array<std::uint16_t, kUnits> ended{};
};

/// An instruction of a run. Cycles count as the engine's own counter does.
struct InstructionTime {
  Unit unit = Unit::kRows;
  std::int32_t pass = 0;
  std::int32_t index = 0;  ///< of the unit's instructions of the program
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t own = 0;  ///< cycles that are this instruction's alone: each is at most one's
};

/// The unit whose instruction a cycle is, by what the cycle's category says (engine_registers):
/// that of the weights' or the cache's stream; else of those that work and wait for nothing, that
/// move something, or that have an instruction at hand the first in this order: product, attend,
/// heads, rows, store. kUnits: none.
std::size_t unit_of_cycle(std::uint64_t events);

/// What was counted in a stretch of cycles.
struct EngineWindow {
  std::array<std::uint32_t, kEngineEvents> events{};
  std::array<std::uint32_t, kBanks> reads{};      ///< bursts on the bank's bus
  std::array<std::uint32_t, kBanks> writes{};     ///< likewise
  std::array<std::uint32_t, kBanks> refreshes{};  ///< begun
};

struct EngineRun {
  std::uint64_t cycles = 0;
  std::uint64_t stretch = 64;                 ///< cycles of a window; the last may have fewer
  std::vector<InstructionTime> instructions;  ///< by end
  std::vector<EngineWindow> windows;
};

/// Follows an engine through its runs. Changes nothing of it; costs about a twentieth of the
/// simulation's speed.
class EngineLog {
 public:
  static constexpr std::size_t kMostWindows = 1024;  ///< of a run: then every two become one

  /// After an edge of the engine's clock. True where the banks are to be looked at: `bank` for
  /// each.
  bool look(const EngineSight& sight);
  /// The counters of a bank's channel, since its making.
  void bank(std::size_t bank, const ddr4::Counters& counters);

  const std::vector<EngineRun>& runs() const { return runs_; }

 private:
  void begin_run(const EngineSight& sight);
  void follow_units(const EngineSight& sight);
  void halve();

  std::vector<EngineRun> runs_;
  bool active_ = false;
  EngineSight before_;
  std::int32_t pass_ = 0;
  std::array<std::deque<std::uint64_t>, kUnits> begins_;  ///< of what has started and not ended
  std::array<std::uint64_t, kUnits> last_end_{};
  std::array<std::uint64_t, kUnits> own_{};  ///< cycles of the one that is at work
  std::array<ddr4::Counters, kBanks> banks_before_{};
};

}  // namespace logos::d5005
