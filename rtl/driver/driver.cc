#include "rtl/driver/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "program/check.h"
#include "program/error.h"
#include "program/standard_streams.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

using namespace registers;  // NOLINT: the registers by their own names

constexpr std::size_t kLineBytes = 64;
constexpr int kMostResetWaits = 500;  ///< a reset takes some hundred cycles
/// Cycles between two looks at what moves: more than all but the longest runs take.
constexpr std::uint64_t kLookCycles = 1'000'000;
constexpr int kClockWaits = 64;  ///< between two looks at the engine's clock

void expect(Transport& transport, std::uint32_t offset, std::string_view what, std::uint64_t want) {
  const std::uint64_t got = transport.read64(offset);
  if (got != want) {
    throw Error(fmt::format("board {}: register {:#05x}", transport.name(), offset), what,
                fmt::format("{:#018x}", got), fmt::format("{:#018x}", want));
  }
}

/// 64 bits of a SHA-256 in hex, from byte `at` on, as the little-endian registers hold them.
std::uint64_t identity_word(std::string_view sha256, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::string digits(sha256.substr(2 * (at + i), 2));
    word |= std::uint64_t{std::stoul(digits, nullptr, 16)} << (8 * i);
  }
  return word;
}

/// The SHA-256 in hex that four registers from `offset` on hold.
std::string identity_in(Transport& transport, std::uint32_t offset) {
  std::string text;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint64_t word = transport.read64(offset + 8 * i);
    for (unsigned byte = 0; byte < 8; ++byte) {
      text += fmt::format("{:02x}", word >> (8 * byte) & 0xFF);
    }
  }
  return text;
}

constexpr int kAnotherIdentity = 10;

struct NamedError {
  int bit;
  const char* text;
};
constexpr NamedError kErrorNames[] = {
    {0, "bank 0: read error"},
    {1, "bank 1: read error"},
    {2, "bank 2: read error"},
    {3, "bank 3: read error"},
    {4, "bank 0: write error"},
    {5, "bank 1: write error"},
    {6, "bank 2: write error"},
    {7, "bank 3: write error"},
    {8, "host: read error"},
    {9, "host: write error"},
    {kAnotherIdentity, "the loaded program is of another identity"},
    {11, "no program where one was looked for"},
    {12, "an instruction that the engine does not know"},
    {13, "watchdog"},
    {14, "a setting or start while the engine was at work"},
    {15, "an address outside the banks"},
    {16, "an output segment that is not mapped"},
    {17, "rows outside the row table"},
    {18, "the engine's clock does not answer"},
    {19, "an ill-formed copy"},
};

/// Who waited when the watchdog fired (rtl/README.md, the register of its cause).
std::string describe_waits(std::uint64_t cause) {
  constexpr const char* kUnitNames[] = {"rows", "product", "heads", "attend", "store"};
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  for (unsigned bank = 0; bank < kBanks; ++bank) {
    if ((cause >> bank & 1U) != 0) add(fmt::format("bank {} owes read data", bank));
    if ((cause >> (4 + bank) & 1U) != 0) add(fmt::format("bank {} has not answered a write", bank));
  }
  if ((cause >> 13 & 1U) != 0) add("the host owes read data");
  if ((cause >> 14 & 1U) != 0) add("the host has not answered a write");
  for (unsigned unit = 0; unit < kUnits; ++unit) {
    if ((cause >> (8 + unit) & 1U) == 0) continue;
    const bool input = (cause >> (32 + unit) & 1U) != 0;
    const bool output = (cause >> (40 + unit) & 1U) != 0;
    add(fmt::format("unit {} {}", kUnitNames[unit],
                    input    ? "waits for input"
                    : output ? "waits for room"
                             : "works"));
  }
  return text.empty() ? "nothing is under way" : text;
}

/// The parts that a reset still holds.
std::string describe_reset(std::uint64_t status) {
  std::string text;
  for (unsigned bank = 0; bank < kBanks; ++bank) {
    if ((status >> (20 + bank) & 1U) != 0) text += fmt::format("bank {}, ", bank);
  }
  if ((status >> 24 & 1U) != 0) text += "the engine, ";
  if (text.empty()) return "some part in reset";
  return text.substr(0, text.size() - 2) + " in reset: does its clock run?";
}

}  // namespace

std::string describe_errors(std::uint64_t errors, std::uint64_t watchdog_cause) {
  std::string text;
  for (const auto& [bit, name] : kErrorNames) {
    if ((errors >> bit & 1U) == 0) continue;
    if (!text.empty()) text += ", ";
    text += name;
    if (bit == 13) text += fmt::format(" ({})", describe_waits(watchdog_cause));
  }
  return text.empty() ? "no error is raised" : text;
}

Driver::Driver(Transport& transport, const EngineSize& size) : transport_(transport), size_(size) {
  expect(transport, kDfh, "device feature header", kDfhValue);
  expect(transport, kGuidLow, "GUID, low half", kGuidLowValue);
  expect(transport, kGuidHigh, "GUID, high half", kGuidHighValue);
  expect(transport, kVersion, "version", kVersionValue);
  const auto word = [](std::int64_t value, int at) {
    return (static_cast<std::uint64_t>(value) & 0xFFFF) << at;
  };
  expect(transport, kCapabilities, "size of the engine",
         static_cast<std::uint64_t>(size.rows) | static_cast<std::uint64_t>(size.mac_rows) << 8 |
             word(size.fifo_beats, 16) | word(size.instructions, 32) | word(size.table_rows, 48));
  expect(transport, kCapacities, "memories of the engine",
         word(size.vector_words, 0) | word(size.activation_words, 16) | word(size.query_words, 32) |
             word(size.gain_words, 48));
  expect(transport, kAttendCapacities, "positions of the engine",
         static_cast<std::uint64_t>(size.scores) | static_cast<std::uint64_t>(size.positions)
                                                       << 32);
  staging_ = transport_.allocate(kMostBufferBytes);
}

Driver::~Driver() {
  const auto release = [&](const HostBuffer& buffer) {
    try {
      transport_.release(buffer);
    } catch (const Error& error) {  // a destructor can only say it
      write_standard_error(fmt::format("{}\n", error.what()));
    }
  };
  release(staging_);
  for (const HostBuffer& buffer : output_) release(buffer);
}

void Driver::reset() {
  transport_.write64(kControl, kControlReset);
  int waits = 0;
  for (std::uint64_t now = status(); (now & kStatusResetting) != 0; now = status()) {
    if (++waits > kMostResetWaits) {
      throw Error(fmt::format("board {}", transport_.name()), "a soft reset does not end",
                  describe_reset(now), "all parts out of reset");
    }
    transport_.wait();
  }
  transport_.write64(kErrors, ~std::uint64_t{0});
}

std::uint64_t Driver::status() {
  const std::uint64_t now = transport_.read64(kStatus);
  if (now == ~std::uint64_t{0}) {
    throw Error(fmt::format("board {}", transport_.name()),
                "engine: its registers are not answered (all ones)");
  }
  return now;
}

void Driver::fail(std::uint64_t errors) {
  const std::string where = fmt::format("board {}", transport_.name());
  const std::string what = describe_errors(errors, transport_.read64(kWatchdogCause));
  if ((errors >> kAnotherIdentity & 1U) == 0) throw Error(where, what);
  throw Error(where, what, identity_in(transport_, kLoaded), identity_in(transport_, kIdentity));
}

void Driver::wait_while(std::uint64_t status_bit, const std::optional<std::uint64_t>& cycle_limit) {
  std::optional<std::uint64_t> clock;
  Moves moves;
  for (int waits = 1;; ++waits) {
    const std::uint64_t now = status();
    if ((now & kStatusFailed) != 0) fail(transport_.read64(kErrors));
    if ((now & status_bit) == 0) return;
    // The engine's watchdog ends what hangs, as long as its clock runs and its status is its own.
    if (waits % kClockWaits == 0) {
      const std::uint64_t then = clock.value_or(0);
      clock = transport_.read64(kClockEngine);
      if (clock == then) {
        throw Error(fmt::format("board {}", transport_.name()), "engine: its clock stands still");
      }
      expect_moves(now, *clock, moves);
    }
    if (cycle_limit) {
      const std::uint64_t cycles = transport_.read64(kCycles);
      if (cycles > *cycle_limit) {
        reset();
        throw Error(fmt::format("board {}", transport_.name()), "cycle limit reached",
                    fmt::format("{} cycles", cycles), fmt::format("{} at most", *cycle_limit));
      }
    }
    // A copy is short, and its time is taken: no pause makes it longer.
    if (status_bit != kStatusCopying) transport_.wait();
  }
}

void Driver::expect_moves(std::uint64_t status_now, std::uint64_t clock, Moves& moves) {
  if (!moves.since) moves.since = clock;
  if (clock - *moves.since < kLookCycles) return;
  const std::uint64_t all = transport_.read64(kCycles) + transport_.read64(kDmaDone);
  if (all != moves.all) {
    moves = {clock, all};
  } else if (clock - *moves.since > kLookCycles + transport_.read64(kWatchdogLimit)) {
    throw Error(fmt::format("board {}", transport_.name()),
                "engine: registers: the status says that it is at work, though nothing moves",
                fmt::format("{:#x} for {} cycles", status_now, clock - *moves.since),
                "its end, or the watchdog's");
  }
}

std::uint64_t Driver::engine_clock() { return transport_.read64(kClockEngine); }

void Driver::copy(std::int64_t at, std::size_t bytes, bool to_host) {
  const std::uint64_t epoch = status() >> kStatusEpoch & 0xFF;
  transport_.write64(kDmaHost, staging_.address);
  transport_.write64(kDmaMemory, static_cast<std::uint64_t>(at));
  transport_.write64(kDmaBytes, bytes);
  transport_.write64(kDmaControl, kDmaStart | (to_host ? kDmaToHost : 0));
  wait_while(kStatusCopying, std::nullopt);
  expect_end(kStatusCopied, epoch);
}

void Driver::copy_to_board(std::int64_t at, std::span<const std::byte> bytes) {
  CHECK(bytes.size() % kSuperBeatBytes == 0);
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), staging_.bytes.size());
    std::copy_n(bytes.begin(), piece, staging_.bytes.begin());
    copy(at, piece, false);
    bytes = bytes.subspan(piece);
    at += static_cast<std::int64_t>(piece) / kSuperBeatBytes;
  }
}

void Driver::copy_from_board(std::int64_t at, std::span<std::byte> bytes) {
  CHECK(bytes.size() % kSuperBeatBytes == 0);
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), staging_.bytes.size());
    copy(at, piece, true);
    std::copy_n(staging_.bytes.begin(), piece, bytes.begin());
    bytes = bytes.subspan(piece);
    at += static_cast<std::int64_t>(piece) / kSuperBeatBytes;
  }
}

void Driver::write_memory(std::int64_t at, std::span<const std::byte> bytes) {
  if (!transport_.preload(at, bytes)) copy_to_board(at, bytes);
}

void Driver::read_memory(std::int64_t at, std::span<std::byte> bytes) {
  if (!transport_.peek(at, bytes)) copy_from_board(at, bytes);
}

/// Throws Error where what was started has not ended as it should.
void Driver::expect_end(std::uint64_t end_bit, std::uint64_t epoch) {
  const std::uint64_t now = status();
  if ((now & end_bit) != 0) return;
  const std::uint64_t errors = transport_.read64(kErrors);
  const std::uint64_t epoch_now = now >> kStatusEpoch & 0xFF;
  if (errors == 0 && epoch_now != epoch) {
    throw Error(fmt::format("board {}", transport_.name()),
                "engine: it was reset while it was at work", fmt::format("epoch {}", epoch_now),
                fmt::format("{}", epoch));
  }
  if (errors == 0) {
    throw Error(fmt::format("board {}", transport_.name()),
                "engine: it did not do what it was told to", fmt::format("status {:#x}", now),
                fmt::format("bit {:#x}", end_bit));
  }
  fail(errors);
}

/// Pins as many segments as the output needs and says where they lie.
void Driver::map_output(std::size_t bytes) {
  const std::size_t segments = (bytes + kMostBufferBytes - 1) / kMostBufferBytes;
  if (bytes > kMostOutputBytes) {
    throw Error(fmt::format("board {}", transport_.name()), "bytes of output",
                fmt::to_string(bytes), fmt::format("{} at most", kMostOutputBytes));
  }
  while (output_.size() < segments) {
    output_.push_back(transport_.allocate(kMostBufferBytes));
    const auto entry = static_cast<std::uint32_t>(8 * (output_.size() - 1));
    transport_.write64(registers::kSegments + entry, output_.back().address | 1U);
  }
}

RunCounters Driver::counters() {
  // They stand still once a run has ended: what reads otherwise the second time was misread.
  const RunCounters run = read_counters();
  const std::string where = fmt::format("board {}: engine: registers", transport_.name());
  if (read_counters() != run) throw Error(where, "the counters of a run read otherwise again");
  const std::uint64_t sum =
      std::accumulate(run.by_category.begin(), run.by_category.end(), std::uint64_t{0});
  if (sum != run.cycles) {
    throw Error(where, "the cycles by category do not add up", fmt::to_string(sum),
                fmt::to_string(run.cycles));
  }
  return run;
}

RunCounters Driver::read_counters() {
  RunCounters run;
  run.cycles = transport_.read64(kCycles);
  for (std::size_t i = 0; i < run.by_category.size(); ++i) {
    run.by_category[i] = transport_.read64(kCategories + static_cast<std::uint32_t>(8 * i));
  }
  for (std::size_t bank = 0; bank < run.banks.size(); ++bank) {
    const std::uint32_t base = kBank + static_cast<std::uint32_t>(32 * bank);
    run.banks[bank] = {transport_.read64(base), transport_.read64(base + 8),
                       transport_.read64(base + 16), transport_.read64(base + 24)};
  }
  run.passes = transport_.read64(kPasses);
  const std::uint64_t fault = transport_.read64(kFault);
  if ((fault & 1U) != 0) run.fault_line = static_cast<std::uint32_t>(fault >> 16 & 0xFFFF);
  return run;
}

RunCounters Driver::run(const RunRequest& request) {
  CHECK(request.output.size() % kLineBytes == 0 && request.identity.size() == 64);
  if (request.table.size() > static_cast<std::size_t>(size_.table_rows)) {
    throw Error(fmt::format("board {}", transport_.name()), "rows of a run",
                fmt::to_string(request.table.size()), fmt::format("{} at most", size_.table_rows));
  }
  map_output(request.output.size());
  for (std::size_t i = 0; i < 4; ++i) {
    transport_.write64(kIdentity + static_cast<std::uint32_t>(8 * i),
                       identity_word(request.identity, 8 * i));
  }
  transport_.write64(kProgram, static_cast<std::uint64_t>(request.program_base));
  transport_.write64(kRowsTotal, request.table.size());
  for (std::size_t i = 0; i < request.table.size(); ++i) {
    const TableRow& row = request.table[i];
    transport_.write64(kRowTable + static_cast<std::uint32_t>(8 * i),
                       std::uint64_t{row.position} << 32 | row.token);
  }
  const std::uint64_t epoch = status() >> kStatusEpoch & 0xFF;
  const std::uint64_t runs = transport_.read64(kRuns);
  transport_.write64(kControl, kControlStart);
  wait_while(kStatusRunning, request.cycle_limit);
  expect_end(kStatusDone, epoch);
  if (const std::uint64_t now = transport_.read64(kRuns); now != runs + 1) {
    throw Error(fmt::format("board {}", transport_.name()),
                "engine: it did not run: runs since the reset", fmt::to_string(now),
                fmt::to_string(runs + 1));
  }
  for (std::size_t at = 0; at < request.output.size(); at += kMostBufferBytes) {
    const std::size_t piece = std::min(kMostBufferBytes, request.output.size() - at);
    const HostBuffer& buffer = output_[at / kMostBufferBytes];
    std::copy_n(buffer.bytes.begin(), piece,
                request.output.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return counters();
}

}  // namespace logos::d5005
