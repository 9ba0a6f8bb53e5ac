#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rtl/board/bank_model.h"
#include "rtl/board/engine_log.h"
#include "rtl/board/host_link.h"
#include "rtl/lowering/plan.h"

namespace logos::d5005 {

/// The clocks of a board in MHz. The banks' start at phases of their own.
struct BoardClocks {
  double engine_mhz = 300;
  double bank_mhz = 299.76;
  double host_mhz = 250;
};

/// A board as `configs/boards/*.json` describes it.
struct BoardParameters {
  BoardClocks clocks;
  ddr4::Parameters ddr4;
  HostLinkParameters host_link;
};

/// What may differ from run to run without changing a bit, and what is planted.
struct BoardOptions {
  ddr4::FillPattern fill;
  std::uint32_t stalls_of_256 = 0;
  std::uint64_t seed = 1;
  std::array<PlantedFault, kBanks> bank_faults{};
  PlantedFault host_fault;
  PlantedFault engine_fault;
  bool check_ports = false;        ///< watch the rules of every port (PortChecks): slower
  std::shared_ptr<EngineLog> log;  ///< follows the engine, where there is one
};

/// One card: the Verilated engine, four DDR4 banks, host memory. Time passes only in its calls.
class Board {
 public:
  virtual ~Board() = default;

  /// One register access; time passes until it is answered. Throws Error where it never is.
  virtual std::uint64_t read(std::uint32_t offset) = 0;
  virtual void write(std::uint32_t offset, std::uint64_t value, std::uint8_t strobe) = 0;
  /// Lets so many cycles of the engine's clock pass.
  virtual void advance(std::uint64_t engine_cycles) = 0;
  virtual std::uint64_t engine_cycles() const = 0;  ///< since power-up

  virtual BankModel& bank(int index) = 0;
  virtual HostLink& host() = 0;

  /// With check_ports: throws Error where a port still waits for something.
  virtual void check_nothing_waits() {}
};

/// A board with an engine of the size that `--engine-rows` names; those that are built:
/// engine_size.
std::unique_ptr<Board> make_board(std::int64_t rows, std::int64_t mac_rows,
                                  const BoardParameters& parameters, const BoardOptions& options);

}  // namespace logos::d5005
