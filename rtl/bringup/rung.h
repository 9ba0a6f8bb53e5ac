#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rtl/bringup/ladder.h"
#include "rtl/driver/driver.h"

namespace logos::d5005 {

/// What the rungs share: the board, what it should be, the driver once the engine was found.
struct Climb {
  Transport& transport;
  const AnswerSet& answers;
  const LadderSettings& settings;
  std::unique_ptr<Driver> driver;
  RungReport* report = nullptr;        ///< of the rung that runs
  std::optional<std::uint64_t> epoch;  ///< after the last reset that the ladder asked for
  /// Registers that never change (offset, value), once the engine was found.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> constants = {};

  /// Throws Error unless `got` is `want`: what a rung finds wrong.
  void expect(std::string_view where, std::uint64_t got, std::uint64_t want) const;
  void note(std::string_view name, std::string value) const;
  /// By its clock counter. Throws Error where that is not answered.
  std::uint64_t engine_cycle() const;
  std::uint64_t epoch_now() const;  ///< resets so far, modulo 256
  /// Sets the watchdog so that a rung fails soon where nothing moves.
  void reset();
  /// Throws Error where the engine has been reset by somebody else.
  void expect_epoch() const;
};

// The rungs. Each throws Error where the board is not as it should be.
void enumerate(Climb& climb);
void check_registers(Climb& climb);
void check_clocks_and_reset(Climb& climb);
void check_banks(Climb& climb);
void check_host(Climb& climb);
void check_answers(Climb& climb, int rung);
void soak(Climb& climb);

/// The data and address lines of the banks, by copies over the host's link. Throws Error whose
/// place begins with "bank N" where one bank differs, with "host" where several do.
void check_paths(Climb& climb);
/// Paths and bandwidths once more.
void check_memory_again(Climb& climb);

/// A unit that tests of it alone show broken.
struct Suspect {
  std::string unit;   ///< as a message begins that names it: "bank 2", "host"
  std::string found;  ///< what its test shows
  std::string look_at;
};

/// Writes and reads the registers with known answers, more often than one in a thousand could hide.
std::optional<Suspect> suspect_registers(Climb& climb);
/// What else a rung stands on: after one that failed with `message`.
std::optional<Suspect> suspect_parts(Climb& climb, std::string_view message);

/// Whether a message says that a run went on for too long; the driver has then reset the engine.
bool tells_cycle_limit(std::string_view message);

/// Starts a copy and does not wait for it.
void start_copy(Transport& transport, std::uint64_t host_address, std::int64_t super_beat,
                std::uint64_t bytes, bool to_host);

}  // namespace logos::d5005
