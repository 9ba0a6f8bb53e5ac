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

  /// Throws Error unless `got` is `want`: what a rung finds wrong.
  void expect(std::string_view where, std::uint64_t got, std::uint64_t want) const;
  void note(std::string_view name, std::string value) const;
  std::uint64_t engine_cycle() const;  ///< by its clock counter
  std::uint64_t epoch_now() const;     ///< resets so far, modulo 256
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

/// Starts a copy and does not wait for it.
void start_copy(Transport& transport, std::uint64_t host_address, std::int64_t super_beat,
                std::uint64_t bytes, bool to_host);

}  // namespace logos::d5005
