#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl/bringup/known_answer.h"
#include "rtl/driver/transport.h"

namespace logos::d5005 {

enum class RungStatus { kPassed, kFailed, kNotRun };

/// What a rung has shown.
struct RungReport {
  int number = 0;
  std::string name;
  std::string proves;
  std::string look_at;  ///< where it fails
  RungStatus status = RungStatus::kNotRun;
  std::string message;                                       ///< why it failed
  std::vector<std::pair<std::string, std::string>> figures;  ///< what it measured
  /// Of the engine's clock, from power-up on; none where its register was not answered, or not as
  /// registers must be.
  std::optional<std::uint64_t> first_cycle;
  std::optional<std::uint64_t> last_cycle;
  double seconds = 0;  ///< wall time

  /// Those of the engine's clock that the rung took.
  std::optional<std::uint64_t> cycles() const;
};

/// What the ladder is to find.
struct LadderSettings {
  double engine_mhz = 300;
  double bank_mhz = 299.76;
  double host_mhz = 250;
  std::int64_t super_beats = 0;  ///< of the board's memory
  std::uint64_t seed = 1;        ///< of patterns, of the soak's order
  int soak_steps = 24;
  std::optional<std::uint64_t> stalls;      ///< seed of the random stalls that last all along
  std::uint32_t watchdog_cycles = 200'000;  ///< for as long as the ladder runs
};

/// Runs the ten rungs on a board, each only if those below have passed. `progress` is told of each
/// when it ends. Whatever the board does becomes a report. A rung passes only where the registers
/// with known answers give them in thousands of reads afterwards; where one fails, the parts that
/// it stands on (registers, resets, clocks, memory, link) are tested alone, and the broken one is
/// named.
std::vector<RungReport> climb(Transport& transport, const AnswerSet& answers,
                              const LadderSettings& settings,
                              const std::function<void(const RungReport&)>& progress);

bool all_passed(const std::vector<RungReport>& reports);

std::string_view name_of(RungStatus status);

}  // namespace logos::d5005
