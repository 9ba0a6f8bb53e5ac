#include "rtl/bringup/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "program/error.h"
#include "rtl/bringup/rung.h"
#include "rtl/driver/registers.h"

namespace logos::d5005 {
namespace {

struct Rung {
  const char* name;
  const char* proves;
  const char* look_at;
  void (*climb)(Climb&);
};

template <int kRung>
void answers_of(Climb& climb) {
  check_answers(climb, kRung);
}

constexpr std::array<Rung, 10> kRungs = {{
    {"enumerate", "the engine of this version and size answers at its window",
     "image loaded, function bound, AFU interface id; order of the GUID's halves", enumerate},
    {"registers", "register accesses of 4 and 8 bytes; what is undefined reads 0",
     "csr.sv: strobes, address decoding; the bridge's data lines", check_registers},
    {"clocks and reset", "all clocks run at their ratios; soft reset, also in the middle of copies",
     "PLL settings, reset_control.sv, reset_domain.sv, epochs in bank_port.sv and host_port.sv",
     check_clocks_and_reset},
    {"banks", "data lines, address lines, cells and bandwidth of each DDR bank",
     "the bank that is named: calibration (EMIF_STAT), bank_port.sv, its DIMM; or the host's link",
     check_banks},
    {"host DMA", "lines of any count there and back; bandwidth of the link",
     "dma.sv, host_port.sv, port errors (fpgainfo errors), IOMMU, pinned pages", check_host},
    {"units", "each unit alone gives the bits of known vectors",
     "the unit that the vector names, its memories in engine_units.sv", answers_of<6>},
    {"parts", "embedding, one layer, head", "the part that is named: its units were right alone",
     answers_of<7>},
    {"decode", "a prompt step by step, over the cache that the steps write",
     "cache_writer.sv, the fence, rotary rows of later positions", answers_of<8>},
    {"prefill and batch", "chunks and batches of several passes",
     "passes of ROWS rows: row table, last_row, caches of rows", answers_of<9>},
    {"soak",
     "random programs in random order under random stalls, with resets: the same bits; then memory "
     "and link as before",
     "the step that is named, with its seed: --stalls SEED repeats it", soak},
}};

/// The engine's clock for the report, where it can be had.
std::optional<std::uint64_t> cycle_read(const Climb& climb) {
  try {
    return climb.engine_cycle();
  } catch (const std::exception&) {
    return std::nullopt;  // the rung has said so, or its check of the registers will
  }
}

void accuse(RungReport& report, const Suspect& suspect) {
  if (suspect.found.find(report.message) != std::string::npos) {  // also where there is none
    report.message = suspect.found;
  } else if (!report.message.starts_with(suspect.unit)) {
    report.message = fmt::format("{}; seen first as: {}", suspect.found, report.message);
  }
  report.status = RungStatus::kFailed;
  report.look_at = suspect.look_at;
}

/// Looks into what the rung stands on: the registers always, the rest where it has failed. Rung 1
/// stands on nothing.
void check_foundations(Climb& climb) {
  RungReport& report = *climb.report;
  if (report.number == 1) return;
  if (const auto suspect = suspect_registers(climb)) {
    // What was measured through them is worth nothing.
    report.figures.clear();
    report.first_cycle.reset();
    report.last_cycle.reset();
    accuse(report, *suspect);
  } else if (report.status == RungStatus::kFailed) {
    if (const auto part = suspect_parts(climb, report.message)) accuse(report, *part);
  }
}

void run_rung(Climb& climb, const Rung& rung) {
  RungReport& report = *climb.report;
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (climb.driver != nullptr) report.first_cycle = climb.engine_cycle();
    rung.climb(climb);
    climb.expect_epoch();
    report.status = RungStatus::kPassed;
  } catch (const std::exception& error) {
    report.status = RungStatus::kFailed;
    report.message = error.what();
    const std::string board = fmt::format("board {}: ", climb.transport.name());
    if (report.message.starts_with(board)) report.message.erase(0, board.size());
  }
  report.last_cycle = cycle_read(climb);
  check_foundations(climb);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  report.seconds = time.count();
}

/// As others find it.
void restore(Climb& climb) {
  constexpr std::uint64_t kWatchdogDefault = 4'000'000;  // csr_pkg::WatchdogDefault
  if (climb.driver == nullptr) return;
  try {
    climb.driver->reset();
    climb.transport.write64(registers::kWatchdogLimit, kWatchdogDefault);
  } catch (const std::exception&) {
    // A board that no longer answers has failed a rung already.
  }
}

}  // namespace

void Climb::expect(std::string_view where, std::uint64_t got, std::uint64_t want) const {
  if (got == want) return;
  throw Error(where, "another value", fmt::format("{:#x}", got), fmt::format("{:#x}", want));
}

void Climb::note(std::string_view name, std::string value) const {
  report->figures.emplace_back(name, std::move(value));
}

std::uint64_t Climb::engine_cycle() const {
  const std::uint64_t cycle = transport.read64(registers::kClockEngine);
  if (cycle == ~std::uint64_t{0}) {
    throw Error("engine", "its registers are not answered (all ones)");
  }
  return cycle;
}

std::uint64_t Climb::epoch_now() const {
  return transport.read64(registers::kStatus) >> registers::kStatusEpoch & 0xFF;
}

void Climb::expect_epoch() const {
  if (!epoch) return;
  if (const std::uint64_t now = epoch_now(); now != *epoch) {
    throw Error("engine", "it was reset, and nobody asked for that", fmt::format("epoch {}", now),
                fmt::format("{}", *epoch));
  }
}

void Climb::reset() {
  expect_epoch();
  const std::uint64_t before = epoch_now();
  driver->reset();
  epoch = (before + 1) & 0xFF;
  expect_epoch();
  transport.write64(registers::kWatchdogLimit, settings.watchdog_cycles);
}

std::vector<RungReport> climb(Transport& transport, const AnswerSet& answers,
                              const LadderSettings& settings,
                              const std::function<void(const RungReport&)>& progress) {
  Climb climb{transport, answers, settings, nullptr, nullptr, std::nullopt};
  std::vector<RungReport> reports;
  bool going = true;
  for (const Rung& rung : kRungs) {
    RungReport& report = reports.emplace_back();
    report.number = static_cast<int>(reports.size());
    report.name = rung.name;
    report.proves = rung.proves;
    report.look_at = rung.look_at;
    climb.report = &report;
    if (going) run_rung(climb, rung);
    going = report.status == RungStatus::kPassed;
    progress(report);
  }
  restore(climb);
  return reports;
}

std::optional<std::uint64_t> RungReport::cycles() const {
  if (!first_cycle || !last_cycle || *last_cycle < *first_cycle) return std::nullopt;
  return *last_cycle - *first_cycle;
}

bool all_passed(const std::vector<RungReport>& reports) {
  return !reports.empty() && std::all_of(reports.begin(), reports.end(), [](const RungReport& r) {
    return r.status == RungStatus::kPassed;
  });
}

std::string_view name_of(RungStatus status) {
  switch (status) {
    case RungStatus::kPassed:
      return "passed";
    case RungStatus::kFailed:
      return "failed";
    case RungStatus::kNotRun:
      return "not run";
  }
  return "";
}

}  // namespace logos::d5005
