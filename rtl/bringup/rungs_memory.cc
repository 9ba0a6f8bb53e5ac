// Rungs 4 and 5: each DDR bank, the way to and from the host.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "program/error.h"
#include "program/identity.h"
#include "rtl/bringup/rung.h"
#include "rtl/driver/registers.h"
#include "rtl/lowering/emitter.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kBeat = 64;
constexpr std::size_t kSuperBeat = kSuperBeatBytes;

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
  return bytes;
}

/// The first difference as bank, super-beat, bit; reads the place again to tell what was kept wrong
/// from what was lost on the way. A bank spoils its own lines alone: where those of several differ,
/// it is the link, over which all of them come.
[[noreturn]] void report_difference(Climb& climb, std::string_view test, std::int64_t base,
                                    const Bytes& got, const Bytes& want) {
  const auto first = static_cast<std::size_t>(
      std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin());
  std::array<int, kBanks> wrong{};
  for (std::size_t i = 0; i < got.size(); i += kBeat) {
    if (std::memcmp(got.data() + i, want.data() + i, kBeat) != 0) ++wrong[i / kBeat % kBanks];
  }
  const std::int64_t beat = base + static_cast<std::int64_t>(first / kSuperBeat);
  const std::size_t bank = first / kBeat % kBanks;
  const auto bits = std::to_integer<unsigned>(got[first] ^ want[first]);
  const auto bit = 8 * (first % kBeat) + static_cast<unsigned>(std::countr_zero(bits));
  Bytes again(kSuperBeat);
  climb.driver->copy_from_board(beat, again);
  const bool kept = again[first % kSuperBeat] == want[first];
  const std::string got_byte = fmt::format("byte {:#04x}", std::to_integer<unsigned>(got[first]));
  const std::string want_byte = fmt::format("{:#04x}", std::to_integer<unsigned>(want[first]));
  if (std::count(wrong.begin(), wrong.end(), 0) == kBanks - 1) {
    throw Error(
        fmt::format("bank {}: {}", bank, test),
        fmt::format("super-beat {:#x}, bit {} of the beat; lines that differ: bank {} {}; read "
                    "again it is {}",
                    beat, bit, bank, wrong[bank],
                    kept ? "right: lost on the way (the bank's read path or the link to the host)"
                         : "wrong still: not kept (or a line of data that stands still)"),
        got_byte, want_byte);
  }
  std::string counts;
  for (std::size_t b = 0; b < wrong.size(); ++b) {
    if (wrong[b] != 0) counts += fmt::format(", bank {} {}", b, wrong[b]);
  }
  throw Error(
      fmt::format("host: the link to the banks: {}", test),
      fmt::format("lines of several banks differ, the first at super-beat {:#x}, bit {} of the "
                  "line; lines that differ: {}; read again it is {}",
                  beat, bit, counts.substr(2),
                  kept ? "right: spoilt on the way to the host"
                       : "wrong still: spoilt on the way to the banks, or each time on the way "
                         "back (a data line that stands still, writes that are lost)"),
      got_byte, want_byte);
}

void expect_memory(Climb& climb, std::string_view test, std::int64_t base, const Bytes& want) {
  Bytes got(want.size());
  climb.driver->copy_from_board(base, got);
  if (got != want) report_difference(climb, test, base, got, want);
}

/// Each of the 512 data lines of each bank alone at 1, then alone at 0.
void walk_ones(Climb& climb) {
  constexpr std::size_t kLines = 512;
  for (const bool inverted : {false, true}) {
    Bytes bytes(kLines * kSuperBeat);
    for (std::size_t i = 0; i < kLines; ++i) {
      for (std::size_t b = 0; b < kBanks; ++b) {
        const std::size_t bit = (i + b * 128) % kLines;  // another line of each bank at a time
        bytes[i * kSuperBeat + b * kBeat + bit / 8] = std::byte{1} << static_cast<int>(bit % 8);
      }
    }
    if (inverted) {
      for (std::byte& byte : bytes) byte = ~byte;
    }
    climb.driver->copy_to_board(0, bytes);
    expect_memory(climb, inverted ? "walking zeros" : "walking ones", 0, bytes);
  }
}

/// Address lines: super-beat 0 and each power of two hold patterns of their own.
void walk_addresses(Climb& climb) {
  std::vector<std::int64_t> places = {0};
  for (std::int64_t at = 1; at < climb.settings.super_beats; at *= 2) places.push_back(at);
  const auto pattern = [&](std::size_t i) {
    return random_bytes(kSuperBeat, climb.settings.seed * 1000 + i);
  };
  for (std::size_t i = 0; i < places.size(); ++i)
    climb.driver->copy_to_board(places[i], pattern(i));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Bytes want = pattern(i);
    Bytes got(kSuperBeat);
    climb.driver->copy_from_board(places[i], got);
    const auto wrong = [&](std::size_t b) {
      return std::memcmp(got.data() + b * kBeat, want.data() + b * kBeat, kBeat) != 0;
    };
    int banks = 0;
    for (std::size_t b = 0; b < kBanks; ++b) banks += wrong(b) ? 1 : 0;
    if (banks > 1) report_difference(climb, "address lines", places[i], got, want);
    for (std::size_t b = 0; b < kBanks; ++b) {
      if (!wrong(b)) continue;
      for (std::size_t j = 0; j < places.size(); ++j) {
        const Bytes other = pattern(j);
        if (std::memcmp(got.data() + b * kBeat, other.data() + b * kBeat, kBeat) != 0) continue;
        throw Error(fmt::format("bank {}: address lines", b),
                    fmt::format("super-beat {:#x} holds what was written to another", places[i]),
                    fmt::format("what was written to {:#x}", places[j]), "its own");
      }
      report_difference(climb, "address lines", places[i], got, want);
    }
  }
  climb.note("address lines", fmt::to_string(places.size() - 1));
}

/// March C- over a stretch of memory, by blocks: up (w0), up (r0, w1), up (r1, w0), down (r0, w1),
/// down (r1, w0), up (r0).
void march(Climb& climb) {
  constexpr std::int64_t kBlocks = 16;
  constexpr std::int64_t kBlockBeats = 64;
  const std::int64_t base = climb.settings.super_beats / 2 - kBlocks * kBlockBeats / 2;
  const Bytes zeros(kBlockBeats * kSuperBeat, std::byte{0x55});
  const Bytes ones(kBlockBeats * kSuperBeat, std::byte{0xAA});
  const auto element = [&](bool up, const Bytes* read, const Bytes* write) {
    for (std::int64_t i = 0; i < kBlocks; ++i) {
      const std::int64_t at = base + (up ? i : kBlocks - 1 - i) * kBlockBeats;
      if (read != nullptr) expect_memory(climb, "march", at, *read);
      if (write != nullptr) climb.driver->copy_to_board(at, *write);
    }
  };
  element(true, nullptr, &zeros);
  element(true, &zeros, &ones);
  element(true, &ones, &zeros);
  element(false, &zeros, &ones);
  element(false, &ones, &zeros);
  element(true, &zeros, nullptr);
}

/// The bandwidth of a sequential read of all four banks: a product over whatever lies there.
void measure_banks(Climb& climb) {
  constexpr std::uint32_t kQuads = 512;
  constexpr std::uint32_t kWords = 64;
  constexpr double kLeast = 0.85;  // of the bank's peak; refresh alone takes 4.5 %
  constexpr std::uint32_t kWeights = 0x1000;
  constexpr std::uint64_t kMostCycles = 20'000'000;  // 0.2 % of the peak
  Instruction product;
  product.columns = 4 * kQuads;
  product.words = kWords;
  product.stream_base = kWeights;
  product.stream_beats = kQuads * kWords + kQuads / 16 + kQuads * kWords / 32;
  Emitter emitter;
  emitter.emit(Op::kProduct, product, {});
  emitter.end_segment();
  const std::string identity = sha256_hex("bandwidth of a sequential read");
  write_program(0, identity, 0, 1, emitter.take(),
                [&](std::int64_t at, std::span<const std::byte> bytes) {
                  climb.driver->copy_to_board(at, bytes);
                });
  const TableRow row;
  const RunCounters run = climb.driver->run({0, identity, {&row, 1}, {}, kMostCycles});
  const auto slowest =
      static_cast<std::size_t>(std::max_element(run.banks.begin(), run.banks.end(),
                                                [](const BankCounters& a, const BankCounters& b) {
                                                  return a.waiting < b.waiting;
                                                }) -
                               run.banks.begin());
  for (std::size_t b = 0; b < run.banks.size(); ++b) {
    climb.expect(fmt::format("bank {}: beats of a sequential read", b), run.banks[b].beats,
                 product.stream_beats + 2);  // and the program's header and instructions
  }
  const double gigabytes = static_cast<double>(product.stream_beats) * kBeat *
                           climb.settings.engine_mhz / static_cast<double>(run.cycles) / 1000;
  const double fraction = gigabytes / (climb.settings.bank_mhz * kBeat / 1000);
  climb.note("GB/s a bank", fmt::format("{:.2f}", gigabytes));
  climb.note("of its peak", fmt::format("{:.1f} %", 100 * fraction));
  if (climb.settings.stalls) return;  // a bandwidth that was asked to be less
  if (fraction < kLeast) {
    throw Error(fmt::format("bank {}: bandwidth of a sequential read", slowest),
                fmt::format("the others waited for it {} of {} cycles", run.banks[slowest].waiting,
                            run.cycles),
                fmt::format("{:.1f} % of its peak", 100 * fraction),
                fmt::format("{:.0f} % at least", 100 * kLeast));
  }
}

void wait_for_copy(Climb& climb) {
  using namespace registers;  // NOLINT
  constexpr int kMostWaits = 4000;
  constexpr int kClockWaits = 64;  // between two looks at the engine's clock
  std::optional<std::uint64_t> cycle;
  for (int i = 0; i < kMostWaits; ++i) {
    const std::uint64_t status = climb.transport.read64(kStatus);
    if (status == ~std::uint64_t{0}) {
      throw Error("engine", "its registers are not answered (all ones)");
    }
    if ((status & kStatusFailed) != 0) {
      throw Error(
          fmt::format("board {}", climb.transport.name()),
          describe_errors(climb.transport.read64(kErrors), climb.transport.read64(kWatchdogCause)));
    }
    if ((status & kStatusCopied) != 0) return;
    if ((status & kStatusCopying) == 0) {
      throw Error("engine: copy", "it is not under way, and has not ended",
                  fmt::format("status {:#x}", status), "copying or copied");
    }
    if (i % kClockWaits == 0) {
      const std::uint64_t now = climb.engine_cycle();
      if (now == cycle) throw Error("engine", "its clock stands still");
      cycle = now;
    }
    climb.transport.wait();
  }
  throw Error("host", "a copy does not end", fmt::format("{} waits", kMostWaits), "its end");
}

/// Lines of any count from and to any line of a buffer; what lies beside them stays.
void loop_back(Climb& climb, const HostBuffer& out, const HostBuffer& back, std::size_t lines,
               std::size_t from, std::size_t to, std::uint64_t seed) {
  const Bytes data = random_bytes(lines * kBeat, seed);
  std::copy(data.begin(), data.end(),
            out.bytes.begin() + static_cast<std::ptrdiff_t>(from * kBeat));
  std::fill(back.bytes.begin(), back.bytes.end(), std::byte{0xE7});
  start_copy(climb.transport, out.address + from * kBeat, 0x2000, lines * kBeat, false);
  wait_for_copy(climb);
  start_copy(climb.transport, back.address + to * kBeat, 0x2000, lines * kBeat, true);
  wait_for_copy(climb);
  for (std::size_t i = 0; i < back.bytes.size(); ++i) {
    const bool inside = i >= to * kBeat && i < (to + lines) * kBeat;
    const std::byte want = inside ? data[i - to * kBeat] : std::byte{0xE7};
    if (back.bytes[i] == want) continue;
    throw Error(fmt::format("host: loopback of {} lines", lines),
                inside ? fmt::format("line {}, byte {}", i / kBeat - to, i % kBeat)
                       : fmt::format("byte {} beside the copy was written", i),
                fmt::format("{:#04x}", std::to_integer<unsigned>(back.bytes[i])),
                fmt::format("{:#04x}", std::to_integer<unsigned>(want)));
  }
}

void measure_host(Climb& climb, const HostBuffer& buffer) {
  constexpr double kLeast = 3;  // GB/s; a short test of the platform's own exerciser shows 3 to 6
  for (const bool to_host : {false, true}) {
    const std::uint64_t begin = climb.engine_cycle();
    start_copy(climb.transport, buffer.address, 0, buffer.bytes.size(), to_host);
    wait_for_copy(climb);
    const auto cycles = static_cast<double>(climb.engine_cycle() - begin);
    const double rate =
        static_cast<double>(buffer.bytes.size()) * climb.settings.engine_mhz / cycles / 1000;
    const char* way = to_host ? "GB/s to the host" : "GB/s from the host";
    climb.note(way, fmt::format("{:.1f}", rate));
    if (!climb.settings.stalls && rate < kLeast) {
      throw Error("host: bandwidth of the link", way, fmt::format("{:.2f}", rate),
                  fmt::format("{} at least", kLeast));
    }
  }
}

}  // namespace

void start_copy(Transport& transport, std::uint64_t host_address, std::int64_t super_beat,
                std::uint64_t bytes, bool to_host) {
  using namespace registers;  // NOLINT: the registers by their own names
  transport.write64(kDmaHost, host_address);
  transport.write64(kDmaMemory, static_cast<std::uint64_t>(super_beat));
  transport.write64(kDmaBytes, bytes);
  transport.write64(kDmaControl, kDmaStart | (to_host ? kDmaToHost : 0));
}

void check_paths(Climb& climb) {
  walk_ones(climb);
  walk_addresses(climb);
}

void check_memory_again(Climb& climb) {
  climb.reset();
  check_paths(climb);
  measure_banks(climb);
  const HostBuffer buffer = climb.transport.allocate(kMostBufferBytes);
  measure_host(climb, buffer);
  climb.transport.release(buffer);
}

void check_banks(Climb& climb) {
  climb.reset();
  check_paths(climb);
  march(climb);
  measure_banks(climb);
}

void check_host(Climb& climb) {
  climb.reset();
  const HostBuffer out = climb.transport.allocate(kMostBufferBytes);
  const HostBuffer back = climb.transport.allocate(kMostBufferBytes);
  // Answers to what a reset has cut off must not be taken for those of the next copy.
  start_copy(climb.transport, out.address, 0, out.bytes.size(), false);
  climb.reset();
  std::uint64_t seed = climb.settings.seed;
  for (const std::size_t lines : {1, 2, 3, 5, 63, 64, 257, 1000}) {
    loop_back(climb, out, back, lines, lines % 7, lines % 5, seed++);
  }
  loop_back(climb, out, back, kMostBufferBytes / kBeat, 0, 0, seed);
  measure_host(climb, out);
  climb.transport.release(out);
  climb.transport.release(back);
}

}  // namespace logos::d5005
