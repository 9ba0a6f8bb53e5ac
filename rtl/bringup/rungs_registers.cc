// Rungs 1 to 3: the engine is there, its registers work, its clocks and resets.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "program/error.h"
#include "rtl/bringup/rung.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

using namespace registers;  // NOLINT: the registers by their own names

/// Offsets that hold nothing, among the registers of both clocks, and behind the tables.
constexpr std::array<std::uint32_t, 14> kNothing = {0x018, 0x020, 0x048,  0x0A8, 0x0B8,
                                                    0x0C0, 0x120, 0x1F8,  0x358, 0x388,
                                                    0x3F8, 0x400, 0x1000, 0x7FF8};

std::string at(std::uint32_t offset) { return fmt::format("engine: register {:#05x}", offset); }

void check_scratch64(Climb& climb) {
  Transport& board = climb.transport;
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {std::uint64_t{1} << bit, ~(std::uint64_t{1} << bit)}) {
      board.write64(kScratch64, value);
      climb.expect(fmt::format("{}, walking bit {}", at(kScratch64), bit), board.read64(kScratch64),
                   value);
    }
  }
}

/// Accesses of 4 bytes to each half of a register of 8, of 8 bytes to one of 4.
void check_widths(Climb& climb) {
  Transport& board = climb.transport;
  board.write64(kScratch64, 0x1122334455667788);
  board.write32(kScratch64 + 4, 0xAABBCCDD);
  climb.expect(at(kScratch64) + ", upper half written", board.read64(kScratch64),
               0xAABBCCDD55667788);
  board.write32(kScratch64, 0x99AABBCC);
  climb.expect(at(kScratch64) + ", lower half written", board.read64(kScratch64),
               0xAABBCCDD99AABBCC);
  climb.expect(at(kScratch64) + ", lower half read", board.read32(kScratch64), 0x99AABBCC);
  climb.expect(at(kScratch64 + 4) + ", upper half read", board.read32(kScratch64 + 4), 0xAABBCCDD);
  board.write64(kScratch32, 0xFFFFFFFF12345678);
  climb.expect(at(kScratch32) + ", 8 bytes of a register of 4", board.read64(kScratch32),
               0x12345678);
  board.write32(kScratch32, 0x87654321);
  climb.expect(at(kScratch32), board.read32(kScratch32), 0x87654321);
  board.write32(kScratch32 + 4, 0xFFFFFFFF);
  climb.expect(at(kScratch32) + ", its empty half written", board.read64(kScratch32), 0x87654321);
  board.write64(kScratch64, 0);
  climb.expect(at(kScratch32) + ", its neighbour written", board.read64(kScratch32), 0x87654321);
}

/// Each entry of a table holds what was written into it, so its address lines all work.
void check_table(Climb& climb, std::uint32_t base, std::uint32_t entries, std::uint64_t mask,
                 std::uint64_t after) {
  Transport& board = climb.transport;
  const auto value = [&](std::uint32_t entry) { return (0x9E3779B97F4A7C15 * (entry + 1)) & mask; };
  std::vector<std::uint32_t> some = {0, entries - 1};
  for (std::uint32_t entry = 1; entry < entries; entry *= 2) some.push_back(entry);
  for (const std::uint32_t entry : some) board.write64(base + 8 * entry, value(entry));
  for (const std::uint32_t entry : some) {
    climb.expect(at(base + 8 * entry), board.read64(base + 8 * entry), value(entry));
  }
  for (const std::uint32_t entry : some) board.write64(base + 8 * entry, after);
}

struct ClockCounter {
  const char* name;
  std::uint32_t offset;
  double mhz;
};

void check_clocks(Climb& climb) {
  constexpr int kWaits = 60;
  constexpr double kMostDeviation = 0.01;  // of a ratio; what the reads' own time leaves open
  const LadderSettings& want = climb.settings;
  const std::array<ClockCounter, 6> clocks = {{{"host", kClockHost, want.host_mhz},
                                               {"engine", kClockEngine, want.engine_mhz},
                                               {"bank 0", kClockBank, want.bank_mhz},
                                               {"bank 1", kClockBank + 8, want.bank_mhz},
                                               {"bank 2", kClockBank + 16, want.bank_mhz},
                                               {"bank 3", kClockBank + 24, want.bank_mhz}}};
  std::array<std::uint64_t, clocks.size()> before{};
  std::array<std::uint64_t, clocks.size()> after{};
  for (std::size_t i = 0; i < clocks.size(); ++i)
    before[i] = climb.transport.read64(clocks[i].offset);
  for (int i = 0; i < kWaits; ++i) climb.transport.wait();
  for (std::size_t i = 0; i < clocks.size(); ++i)
    after[i] = climb.transport.read64(clocks[i].offset);
  const auto host = static_cast<double>(after[0] - before[0]);
  if (host == 0) throw Error("engine: host clock", "its counter stands still");
  for (std::size_t i = 1; i < clocks.size(); ++i) {
    const double mhz = static_cast<double>(after[i] - before[i]) / host * want.host_mhz;
    const std::string where = fmt::format("engine: clock of {}", clocks[i].name);
    if (after[i] == before[i]) throw Error(where, "it stands still");
    if (std::abs(mhz / clocks[i].mhz - 1) > kMostDeviation) {
      throw Error(where, "another frequency, by the host's clock", fmt::format("{:.1f} MHz", mhz),
                  fmt::format("{} MHz", clocks[i].mhz));
    }
    climb.note(fmt::format("{} MHz", clocks[i].name), fmt::format("{:.1f}", mhz));
  }
}

/// One soft reset, and what must hold after it.
void check_reset(Climb& climb, std::string_view when) {
  const std::uint64_t epoch = climb.epoch_now();
  climb.reset();
  const std::string where = fmt::format("engine: soft reset {}", when);
  climb.expect(where + ": epoch", climb.epoch_now(), (epoch + 1) & 0xFF);
  const std::uint64_t busy = kStatusRunning | kStatusDone | kStatusFailed | kStatusResetting |
                             kStatusCopying | kStatusCopied;
  climb.expect(where + ": status", climb.transport.read64(kStatus) & busy, 0);
  climb.expect(where + ": errors", climb.transport.read64(kErrors), 0);
}

/// Resets that meet a copy under way. Whether the data arrive is the next rungs' matter.
void check_resets_in_traffic(Climb& climb) {
  const HostBuffer buffer = climb.transport.allocate(kMostBufferBytes);
  for (const bool to_host : {false, true}) {
    start_copy(climb.transport, buffer.address, 0, buffer.bytes.size(), to_host);
    const std::uint64_t status = climb.transport.read64(kStatus);
    if ((status & (kStatusCopying | kStatusFailed)) == 0) {
      throw Error("engine: copy", "it has not begun", fmt::format("status {:#x}", status),
                  "copying");
    }
    check_reset(climb, to_host ? "in a copy to the host" : "in a copy to the banks");
  }
  climb.transport.release(buffer);
}

}  // namespace

void enumerate(Climb& climb) {
  Transport& board = climb.transport;
  const std::uint64_t dfh = board.read64(kDfh);
  if (dfh == ~std::uint64_t{0}) {
    throw Error("engine: register 0x000, device feature header",
                "register reads are not answered (all ones)", fmt::format("{:#x}", dfh),
                fmt::format("{:#x}", kDfhValue));
  }
  climb.expect("engine: register 0x000, device feature header", dfh, kDfhValue);
  // The reset of power-up runs by itself in epoch 0; another was asked for, and not by the ladder.
  const std::uint64_t status = board.read64(kStatus);
  climb.epoch = status >> kStatusEpoch & 0xFF;
  if ((status & kStatusResetting) != 0 && *climb.epoch != 0) {
    throw Error("engine: it was reset", "it is in a reset that nobody asked for",
                fmt::format("epoch {}", *climb.epoch), "an engine at rest");
  }
  climb.expect("engine: register 0x008, GUID low", board.read64(kGuidLow), kGuidLowValue);
  climb.expect("engine: register 0x010, GUID high", board.read64(kGuidHigh), kGuidHighValue);
  climb.expect("engine: register 0x028, version", board.read64(kVersion), kVersionValue);
  const std::uint64_t capabilities = board.read64(kCapabilities);
  climb.expect("engine: rows that share a pass (the known answers are for others)",
               capabilities & 0xFF, static_cast<std::uint64_t>(climb.answers.rows));
  climb.expect("engine: rows of the MAC array (the known answers are for others)",
               capabilities >> 8 & 0xFF, static_cast<std::uint64_t>(climb.answers.mac_rows));
  climb.report->first_cycle = climb.engine_cycle();
  climb.driver =
      std::make_unique<Driver>(board, engine_size(climb.answers.rows, climb.answers.mac_rows));
  climb.constants = {{kDfh, kDfhValue},
                     {kGuidLow, kGuidLowValue},
                     {kGuidHigh, kGuidHighValue},
                     {kVersion, kVersionValue}};
  for (const std::uint32_t offset : {kCapabilities, kCapacities, kAttendCapacities}) {
    climb.constants.emplace_back(offset, board.read64(offset));
  }
  climb.note("GUID", kGuid);
  climb.note("rows", fmt::format("{}/{}", climb.answers.rows, climb.answers.mac_rows));
}

void check_registers(Climb& climb) {
  check_scratch64(climb);
  check_widths(climb);
  for (const std::uint32_t offset : kNothing) {
    climb.expect(at(offset) + ", which holds nothing", climb.transport.read64(offset), 0);
    climb.transport.write64(offset, ~std::uint64_t{0});
    climb.expect(at(offset) + ", which holds nothing, written", climb.transport.read64(offset), 0);
  }
  for (const std::uint32_t offset : {kDfh, kGuidLow, kGuidHigh, kVersion, kCapabilities}) {
    const std::uint64_t value = climb.transport.read64(offset);
    climb.transport.write64(offset, ~value);
    climb.expect(at(offset) + ", read only, written", climb.transport.read64(offset), value);
  }
  check_table(climb, kIdentity, 4, ~std::uint64_t{0}, 0);
}

void check_clocks_and_reset(Climb& climb) {
  check_clocks(climb);
  // The tables lie in the engine's clock.
  check_table(climb, kSegments, 512, ~std::uint64_t{0} << 6, 0);
  const EngineSize size = engine_size(climb.answers.rows, climb.answers.mac_rows);
  check_table(climb, kRowTable, static_cast<std::uint32_t>(size.table_rows), ~std::uint64_t{0}, 0);
  check_reset(climb, "at rest");
  check_resets_in_traffic(climb);
}

}  // namespace logos::d5005
