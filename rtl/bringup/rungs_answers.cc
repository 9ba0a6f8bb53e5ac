// Rungs 6 to 10: known answers, and a soak over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "program/error.h"
#include "program/identity.h"
#include "rtl/bringup/rung.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kCycleLimit = 20'000'000;  ///< of a run

std::string hex(std::span<const std::byte> bytes) {
  std::string text = "0x";
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
  }
  return text;
}

/// The bank that an element of a piece comes from, -1 where all have part in it.
int bank_of(BankOf kind, std::size_t element) {
  switch (kind) {
    case BankOf::kAny:
      return -1;
    case BankOf::kOutputs:
      return static_cast<int>(element % 4);
    case BankOf::kFloats:
      return static_cast<int>(element / 16 % 4);
    case BankOf::kBytes:
      return static_cast<int>(element / 64 % 4);
  }
  return -1;
}

/// What differs between an output buffer and what it should hold.
struct Differences {
  std::size_t wrong = 0;
  std::size_t all = 0;
  std::string first;  ///< "row 2, element 17"
  std::string got, want;
  unsigned banks = 0;  ///< of the wrong elements, a bit each
};

Differences compare(const KnownAnswer& answer, const KnownRun& run,
                    std::span<const std::byte> got) {
  Differences found;
  const auto size = static_cast<std::size_t>(answer.element_bytes);
  for (std::size_t row = 0; row < run.expected.size(); ++row) {
    const Piece& piece = run.expected[row];
    const auto have = got.subspan(static_cast<std::size_t>(piece.at), piece.bytes.size());
    for (std::size_t at = 0; at < piece.bytes.size(); at += size) {
      const std::size_t count = std::min(size, piece.bytes.size() - at);
      ++found.all;
      if (std::memcmp(have.data() + at, piece.bytes.data() + at, count) == 0) continue;
      // A row of one element is what a unit made of many, a peak say.
      const bool of_many = piece.bytes.size() <= size;
      const int bank = of_many ? -1 : bank_of(answer.bank_of, at / size);
      if (bank >= 0) found.banks |= 1U << bank;
      if (found.wrong++ != 0) continue;
      found.first = fmt::format("row {}, element {}", row, at / size);
      found.got = hex(have.subspan(at, count));
      found.want = hex(std::span(piece.bytes).subspan(at, count));
    }
  }
  return found;
}

/// "" or where the memory no longer reads as the image, by DMA as the engine would read it.
std::string damage_of(Climb& climb, const KnownAnswer& answer, std::size_t last) {
  for (std::size_t r = 0; r <= last; ++r) {
    for (const Piece& piece : answer.runs[r].image) {
      Bytes now(piece.bytes.size());
      climb.driver->copy_from_board(piece.at, now);
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i] == piece.bytes[i]) continue;
        return fmt::format("; bank {} does not hold the image at super-beat {:#x}, byte {} of it",
                           i / 64 % 4, piece.at + static_cast<std::int64_t>(i / 256), i % 64);
      }
    }
  }
  return "";
}

/// Throws for an output that is wrong, with all that can be said of why.
void judge(Climb& climb, const KnownAnswer& answer, std::size_t r, std::span<const std::byte> got,
           const std::function<bool()>& right_again) {
  const KnownRun& run = answer.runs[r];
  const Differences found = compare(answer, run, got);
  if (found.wrong == 0) return;
  std::string what =
      fmt::format("{}: {} of {} elements differ", found.first, found.wrong, found.all);
  if (answer.runs.size() > 1) {
    what = fmt::format("step {}, whose keys and values lie in bank {}: {}", r + 1,
                       run.table.front().position % kBanks, what);
  }
  for (int bank = 0; bank < kBanks; ++bank) {
    if (found.banks == 1U << bank) what += fmt::format("; all of them come from bank {}", bank);
  }
  what += damage_of(climb, answer, r);
  what += right_again() ? "; run again it is right: an error that comes and goes"
                        : "; run again it is wrong, too";
  throw Error(fmt::format("{}: {}", answer.name, answer.look_at), what, found.got, found.want);
}

void check_counters(const KnownAnswer& answer, const RunCounters& run) {
  std::uint64_t sum = 0;
  for (const std::uint64_t cycles : run.by_category) sum += cycles;
  if (sum != run.cycles) {
    throw Error(fmt::format("{}: engine: cycles by category", answer.name), "they do not add up",
                fmt::to_string(sum), fmt::to_string(run.cycles));
  }
}

void load(Climb& climb, const KnownRun& run) {
  for (const Piece& piece : run.image) climb.driver->write_memory(piece.at, piece.bytes);
  for (const Piece& piece : run.cache) climb.driver->write_memory(piece.at, piece.bytes);
}

RunCounters start(Climb& climb, const KnownAnswer& answer, const KnownRun& run, Bytes& output) {
  load(climb, run);
  output.assign(static_cast<std::size_t>(run.output_bytes), std::byte{0});
  const RunCounters counters =
      climb.driver->run({answer.program, answer.sha256, run.table, output, kCycleLimit});
  check_counters(answer, counters);
  return counters;
}

void check_left(Climb& climb, const KnownAnswer& answer, const KnownRun& run) {
  for (const Piece& piece : run.left) {
    Bytes now(piece.bytes.size());
    climb.driver->read_memory(piece.at, now);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == piece.bytes[i]) continue;
      throw Error(fmt::format("{}: {}", answer.name, answer.look_at),
                  fmt::format("bank {}, super-beat {:#x}, byte {} of the beat was to be written",
                              i / 64 % 4, piece.at + static_cast<std::int64_t>(i / 256), i % 64),
                  fmt::format("{:#04x}", std::to_integer<unsigned>(now[i])),
                  fmt::format("{:#04x}", std::to_integer<unsigned>(piece.bytes[i])));
    }
  }
}

void check_greedy(Climb& climb, const KnownAnswer& answer, const KnownRun& run) {
  for (std::size_t t = 0; t < run.greedy.size(); ++t) {
    const std::uint32_t offset = registers::kGreedy + static_cast<std::uint32_t>(8 * t);
    const std::uint64_t got = climb.transport.read64(offset);
    if (got == run.greedy[t]) continue;
    throw Error(fmt::format("{}: {}", answer.name, answer.look_at),
                fmt::format("greedy choice of row {} (binary32, index)", t),
                fmt::format("{:#018x}", got), fmt::format("{:#018x}", run.greedy[t]));
  }
}

/// All runs of an answer up to `last` once more; whether the last gives the right bits.
bool right_when_repeated(Climb& climb, const KnownAnswer& answer, std::size_t last) {
  Bytes output;
  for (std::size_t r = 0; r <= last; ++r) start(climb, answer, answer.runs[r], output);
  return compare(answer, answer.runs[last], output).wrong == 0;
}

std::string text_of(const std::optional<std::uint32_t>& line) {
  return line ? fmt::format("line {}", *line) : "none";
}

struct Ran {
  std::uint64_t cycles = 0;
  std::string digest;  ///< SHA-256 of all expected bytes as they came
};

Ran check(Climb& climb, const KnownAnswer& answer) {
  Ran ran;
  std::string all;
  Bytes output;
  for (std::size_t r = 0; r < answer.runs.size(); ++r) {
    const KnownRun& run = answer.runs[r];
    RunCounters counters;
    try {
      counters = start(climb, answer, run, output);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", answer.name, answer.look_at), error.what());
    }
    judge(climb, answer, r, output, [&] { return right_when_repeated(climb, answer, r); });
    check_left(climb, answer, run);
    check_greedy(climb, answer, run);
    if (counters.fault_line != run.fault_line) {
      throw Error(fmt::format("{}: {}", answer.name, answer.look_at), "FAULT",
                  text_of(counters.fault_line), text_of(run.fault_line));
    }
    ran.cycles += counters.cycles;
    for (const Piece& piece : run.expected) {
      all.append(reinterpret_cast<const char*>(output.data() + piece.at), piece.bytes.size());
    }
  }
  ran.digest = sha256_hex(all);
  return ran;
}

/// A reset that meets the run; its right bits are asked for afterwards.
void cut_off(Climb& climb, const KnownAnswer& answer) {
  const KnownRun& run = answer.runs.front();
  climb.expect_epoch();
  const std::uint64_t epoch = climb.epoch_now();
  try {
    Bytes output(static_cast<std::size_t>(run.output_bytes));
    load(climb, run);
    climb.driver->run({answer.program, answer.sha256, run.table, output, 1});
  } catch (const Error& error) {
    if (!tells_cycle_limit(error.what())) throw;
    // The limit of one cycle was reached, and the driver has reset the engine in the middle.
    climb.epoch = (epoch + 1) & 0xFF;
  }
  climb.reset();
}

/// The stalls as they were asked for, or none.
void settle(Climb& climb) {
  climb.transport.disturb(climb.settings.stalls ? *climb.settings.stalls + 1 : 0);
}

}  // namespace

void check_answers(Climb& climb, int rung) {
  climb.reset();
  std::uint64_t cycles = 0;
  int count = 0;
  for (const KnownAnswer& answer : climb.answers.answers) {
    if (answer.rung != rung) continue;
    cycles += check(climb, answer).cycles;
    ++count;
  }
  if (count == 0) throw Error("known answers", fmt::format("none for rung {}", rung));
  climb.note("known answers", fmt::to_string(count));
  climb.note("engine's cycles", fmt::to_string(cycles));
}

void soak(Climb& climb) {
  climb.reset();
  std::mt19937_64 random(climb.settings.seed);
  const auto& answers = climb.answers.answers;
  std::vector<std::string> digests(answers.size());
  bool stalls = false;
  for (int step = 0; step < climb.settings.soak_steps; ++step) {
    const std::size_t index = random() % answers.size();
    const std::uint64_t seed = random() % 1000 + 1;
    const std::string where = fmt::format("soak, step {} (seed {})", step + 1, seed);
    try {
      stalls = climb.transport.disturb(seed);
      if (step % 6 == 5) cut_off(climb, answers[index]);
      const std::string digest = check(climb, answers[index]).digest;
      if (!digests[index].empty() && digest != digests[index]) {
        throw Error(answers[index].name, "another digest than before", digest, digests[index]);
      }
      digests[index] = digest;
    } catch (const Error& error) {
      settle(climb);
      throw Error(where, error.what());
    }
  }
  settle(climb);
  // Whatever has broken since its own rung, and that no program has met.
  check_memory_again(climb);
  climb.note("steps", fmt::to_string(climb.settings.soak_steps));
  climb.note("random stalls", stalls ? "yes" : "no (a card's own)");
}

}  // namespace logos::d5005
