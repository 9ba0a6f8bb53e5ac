#include "rtl/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "program/check.h"
#include "sim/timeline_parts.h"

namespace logos::d5005 {
namespace {

constexpr std::array<std::string_view, kUnits> kUnitNames = {"rows", "product", "heads", "attend",
                                                             "store"};
constexpr double kLineBytes = 64;
constexpr std::size_t kEventsOfUnit = 3;
constexpr std::size_t kEventsOfBank = 4;

/// Instructions of a segment (or the one program) by unit.
using ByUnit = std::array<std::vector<std::size_t>, kUnits>;
ByUnit by_unit(const BoardPlan& board, std::size_t segment) {
  std::size_t first = 0;
  std::size_t end = board.program.size();
  if (!board.segments.empty()) {
    first = static_cast<std::size_t>(board.segments[segment].first);
    end = first + static_cast<std::size_t>(board.segments[segment].count);
  }
  ByUnit indices;
  for (std::size_t i = first; i < end; ++i) {
    const auto op = static_cast<Op>(board.program[i].op);
    if (op != Op::kEnd) indices[static_cast<std::size_t>(unit_of(op))].push_back(i);
  }
  return indices;
}

class Builder {
 public:
  Builder(const Plan& plan, double engine_hz, Timeline& timeline)
      : plan_(plan), ns_(1e9 / engine_hz), timeline_(timeline) {}

  /// Tracks of every board: units, then banks.
  void add_tracks() {
    for (std::size_t b = 0; b < plan_.boards.size(); ++b) {
      const std::string of = plan_.boards.size() == 1 ? "" : fmt::format("board {} ", b);
      for (const std::string_view unit : kUnitNames) {
        timeline_.tracks.push_back({of + "units", std::string(unit)});
      }
      for (std::int64_t bank = 0; bank < kBanks; ++bank) {
        timeline_.tracks.push_back({of + "banks", fmt::format("bank {}", bank)});
      }
    }
    for (std::size_t b = 0; b < plan_.boards.size(); ++b) {
      for (std::size_t u = 0; u < kUnits; ++u) {
        for (const char* name : {"busy", "stalled on input", "stalled on output"}) {
          timeline_.counters.push_back({track_of_unit(b, u), name, "fraction", {}});
        }
      }
      for (std::size_t bank = 0; bank < kBanks; ++bank) {
        const std::int32_t track = track_of_bank(b, bank);
        timeline_.counters.push_back({track, "read", "GB/s", {}});
        timeline_.counters.push_back({track, "written", "GB/s", {}});
        timeline_.counters.push_back({track, "units wait for it", "fraction", {}});
        timeline_.counters.push_back({track, "it waits for units", "fraction", {}});
        timeline_.counters.push_back({track, "refreshes", "count", {}});
      }
    }
    if (plan_.boards.size() > 1) timeline_.tracks.push_back({"host", "exchanges"});
  }

  void add_run(std::size_t board, std::size_t segment, const EngineRun& run, std::uint64_t begin) {
    const ByUnit indices = by_unit(plan_.boards[board], segment);
    for (const InstructionTime& time : run.instructions) {
      const auto unit = static_cast<std::size_t>(time.unit);
      const std::size_t index = indices[unit].at(static_cast<std::size_t>(time.index));
      add_slice(track_of_unit(board, unit), line_of(plan_.boards[board].program[index].line),
                begin + time.begin, begin + time.end);
    }
    for (std::size_t w = 0; w < run.windows.size(); ++w) {
      const std::uint64_t from = w * run.stretch;
      if (from >= run.cycles) break;
      add_window(board, run.windows[w], begin + from, std::min(run.stretch, run.cycles - from));
    }
    add_zeros(board, begin + run.cycles);
  }

  /// Of the lines: the cycles that are each instruction's own.
  void count_run(std::size_t board, std::size_t segment, const EngineRun& run) {
    const ByUnit indices = by_unit(plan_.boards[board], segment);
    for (const InstructionTime& time : run.instructions) {
      const std::size_t index =
          indices[static_cast<std::size_t>(time.unit)].at(static_cast<std::size_t>(time.index));
      const std::uint32_t operation = plan_.boards[board].program[index].line;
      uses.of(line_of(operation).line).seconds += static_cast<double>(time.own) * ns_ * 1e-9;
    }
  }

  void add_exchange(const RunStretch& stretch) {
    const std::uint32_t operation = last_operation(plan_.boards.front(), stretch.segment);
    const auto host = static_cast<std::int32_t>(timeline_.tracks.size()) - 1;
    const Place place = line_of(operation);
    add_slice(host, place, stretch.begin, stretch.begin + stretch.cycles);
    uses.of(place.line).seconds += static_cast<double>(stretch.cycles) * ns_ * 1e-9;
  }

  struct Place {
    std::int32_t line;
    std::int32_t layer;
  };
  Place line_of(std::uint32_t operation) const {
    CHECK(operation < plan_.lines.size());
    const PlanLine& line = plan_.lines[operation];
    return {static_cast<std::int32_t>(line.line), static_cast<std::int32_t>(line.layer)};
  }

  LineUses uses;

 private:
  static std::int32_t track_of_unit(std::size_t board, std::size_t unit) {
    return static_cast<std::int32_t>(board * (kUnits + kBanks) + unit);
  }
  static std::int32_t track_of_bank(std::size_t board, std::size_t bank) {
    return track_of_unit(board, kUnits + bank);
  }

  void add_slice(std::int32_t track, const Place& place, std::uint64_t begin, std::uint64_t end) {
    if (end == begin) return;
    timeline_.slices.push_back({track, place.line, place.layer, static_cast<double>(begin) * ns_,
                                static_cast<double>(end) * ns_});
  }

  /// The counters of a board, in the order of add_tracks.
  Counter* counters_of(std::size_t board) {
    constexpr std::size_t kOfBoard = kUnits * kEventsOfUnit + kBanks * (kEventsOfBank + 1);
    return &timeline_.counters[board * kOfBoard];
  }

  void add_window(std::size_t board, const EngineWindow& window, std::uint64_t begin,
                  std::uint64_t cycles) {
    const double at = static_cast<double>(begin) * ns_;
    const double ns = static_cast<double>(cycles) * ns_;
    const auto fraction = [&](std::size_t event) {
      return static_cast<double>(window.events[event]) / static_cast<double>(cycles);
    };
    Counter* counter = counters_of(board);
    for (std::size_t event = 0; event < kUnits * kEventsOfUnit; ++event) {
      (counter++)->samples.push_back({at, fraction(kUnitEvents + event)});
    }
    for (std::size_t bank = 0; bank < kBanks; ++bank) {
      const std::size_t events = kBankEvents + kEventsOfBank * bank;
      (counter++)->samples.push_back({at, window.reads[bank] * kLineBytes / ns});
      (counter++)->samples.push_back({at, window.writes[bank] * kLineBytes / ns});
      (counter++)->samples.push_back({at, fraction(events + 1)});
      (counter++)->samples.push_back({at, fraction(events + 2)});
      (counter++)->samples.push_back({at, static_cast<double>(window.refreshes[bank])});
    }
  }

  /// From a run's end to the next one's begin.
  void add_zeros(std::size_t board, std::uint64_t end) {
    Counter* counter = counters_of(board);
    for (std::size_t c = 0; c < kUnits * kEventsOfUnit + kBanks * (kEventsOfBank + 1); ++c) {
      (counter++)->samples.push_back({static_cast<double>(end) * ns_, 0});
    }
  }

  const Plan& plan_;
  double ns_;  ///< of a cycle
  Timeline& timeline_;
};

}  // namespace

Timeline timeline_of(const Plan& plan, const BoardParameters& board, const Traffic& traffic,
                     const PlanOutcome& outcome, std::span<const std::shared_ptr<EngineLog>> logs) {
  Timeline timeline;
  const double hz = board.clocks.engine_mhz * 1e6;
  const auto boards = static_cast<double>(plan.boards.size());
  timeline.memory = "ddr";  // the four banks of all boards
  timeline.bytes_per_second = kLineBytes * kBanks * board.clocks.bank_mhz * 1e6 * boards;
  timeline.macs_per_second = 256 * static_cast<double>(plan.engine.mac_rows) * hz * boards;
  Builder builder(plan, hz, timeline);
  builder.add_tracks();
  std::size_t run = 0;  // of each board's log
  for (const RunStretch& stretch : outcome.stretches) {
    if (stretch.is_exchange) {
      builder.add_exchange(stretch);
      continue;
    }
    for (std::size_t b = 0; b < logs.size(); ++b) {
      const EngineRun& of = logs[b]->runs().at(run);
      CHECK(of.cycles <= stretch.cycles);
      builder.add_run(b, stretch.segment, of, stretch.begin);
      if (b == stretch.board) builder.count_run(b, stretch.segment, of);
    }
    ++run;
  }
  for (const auto& [operation, part] : traffic.by_operation) {
    LineUse& use = builder.uses.of(builder.line_of(operation).line);
    use.bytes += part.bytes;
    use.macs += part.macs;
  }
  timeline.lines = builder.uses.of_run(static_cast<double>(outcome.counters.cycles) / hz);
  put_in_order(timeline);
  thin(timeline, kMostSlices, kMostSamples);
  return timeline;
}

}  // namespace logos::d5005
