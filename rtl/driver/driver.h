#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rtl/driver/transport.h"
#include "rtl/lowering/plan.h"
#include "sim/timing.h"

namespace logos::d5005 {

/// Of one run: the table of output segments has 512 entries.
inline constexpr std::size_t kMostOutputBytes = 512 * kMostBufferBytes;

/// What a bank's counters say of a run.
struct BankCounters {
  std::uint64_t beats = 0;    ///< read
  std::uint64_t waiting = 0;  ///< cycles in which the others' data waited for this bank's
  std::uint64_t full = 0;     ///< cycles in which its FIFO had no room
  std::uint64_t writes = 0;

  bool operator==(const BankCounters&) const = default;
};

/// What the counters say of a run, in cycles of the engine.
struct RunCounters {
  std::uint64_t cycles = 0;
  std::array<std::uint64_t, kCategories> by_category{};
  std::array<BankCounters, kBanks> banks{};
  std::uint64_t passes = 0;
  std::optional<std::uint32_t> fault_line;  ///< the first that raised FAULT

  bool operator==(const RunCounters&) const = default;
};

/// What a run asks of the engine.
struct RunRequest {
  std::int64_t program_base = 0;  ///< super-beats
  std::string identity;           ///< SHA-256 in hex
  std::span<const TableRow> table;
  std::span<std::byte> output;  ///< filled from the output buffer; whole 64-byte lines
  std::optional<std::uint64_t> cycle_limit;
};

/// Drives one engine through a transport, by its registers alone.
class Driver {
 public:
  /// Finds out whether a decode engine of the size asked for is there: DFH, GUID, version,
  /// capabilities. Throws Error with what was read and wanted.
  Driver(Transport& transport, const EngineSize& size);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Soft reset; the memory keeps its contents.
  void reset();

  /// DDR from super-beat `at` on, whole super-beats: at once where the board can, else by DMA.
  void write_memory(std::int64_t at, std::span<const std::byte> bytes);
  void read_memory(std::int64_t at, std::span<std::byte> bytes);
  /// Puts whole super-beats into DDR at once where the board can; false: it cannot.
  bool preload(std::int64_t at, std::span<const std::byte> bytes) {
    return transport_.preload(at, bytes);
  }
  /// The same by the engine's own DMA, whatever the board can.
  void copy_to_board(std::int64_t at, std::span<const std::byte> bytes);
  void copy_from_board(std::int64_t at, std::span<std::byte> bytes);

  /// Cycles of the engine's clock since the platform's reset.
  std::uint64_t engine_clock();

  /// Starts the program and waits for its end. Throws Error that names unit or bank where it fails.
  RunCounters run(const RunRequest& request);

 private:
  std::uint64_t status();
  void expect_end(std::uint64_t end_bit, std::uint64_t epoch);
  void wait_while(std::uint64_t status_bit, const std::optional<std::uint64_t>& cycle_limit);
  /// What has moved since the engine's clock was there: cycles of the run, lines of the copy.
  struct Moves {
    std::optional<std::uint64_t> since;
    std::uint64_t all = ~std::uint64_t{0};
  };
  void expect_moves(std::uint64_t status_now, std::uint64_t clock, Moves& moves);
  [[noreturn]] void fail(std::uint64_t errors);
  void copy(std::int64_t at, std::size_t bytes, bool to_host);
  RunCounters counters();
  RunCounters read_counters();
  void map_output(std::size_t bytes);

  Transport& transport_;
  EngineSize size_;
  HostBuffer staging_;
  std::vector<HostBuffer> output_;
};

/// The errors of the sticky register by name, "bank 2: read error, watchdog: …".
std::string describe_errors(std::uint64_t errors, std::uint64_t watchdog_cause);

}  // namespace logos::d5005
