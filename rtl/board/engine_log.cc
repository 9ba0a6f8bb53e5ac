#include "rtl/board/engine_log.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/timing.h"

namespace logos::d5005 {
namespace {

constexpr std::array<Unit, kUnits> kFirst = {Unit::kProduct, Unit::kAttend, Unit::kHeads,
                                             Unit::kRows, Unit::kStore};

bool happens(std::uint64_t events, std::size_t event) { return (events >> event & 1) != 0; }

bool is_busy(std::uint64_t events, std::size_t unit) {
  return happens(events, kUnitEvents + 3 * unit);
}

bool works(std::uint64_t events, std::size_t unit) {
  return is_busy(events, unit) && !happens(events, kUnitEvents + 3 * unit + 1) &&
         !happens(events, kUnitEvents + 3 * unit + 2);
}

}  // namespace

std::size_t unit_of_cycle(std::uint64_t events) {
  const auto category = [&](Category of) {
    return happens(events, 1 + static_cast<std::size_t>(of));
  };
  if (category(Category::kWeightStream)) return static_cast<std::size_t>(Unit::kProduct);
  if (category(Category::kKvStream)) return static_cast<std::size_t>(Unit::kAttend);
  if (category(Category::kMovement) && is_busy(events, static_cast<std::size_t>(Unit::kStore))) {
    return static_cast<std::size_t>(Unit::kStore);
  }
  const bool computes = category(Category::kCompute);
  for (const Unit unit : kFirst) {
    const auto u = static_cast<std::size_t>(unit);
    if (computes ? works(events, u) : is_busy(events, u)) return u;
  }
  return kUnits;
}

bool EngineLog::look(const EngineSight& sight) {
  const bool active = (sight.events & 1) != 0;
  const bool begins = active && !active_;
  const bool ends = active_ && !active;
  active_ = active;
  if (begins) begin_run(sight);
  if (!active) return ends;  // the last window, which may be short
  EngineRun& run = runs_.back();
  // The events are those of the cycle before this edge.
  const std::size_t unit = unit_of_cycle(sight.events);
  if (unit < kUnits && !begins_[unit].empty()) ++own_[unit];
  follow_units(sight);
  if (run.cycles % run.stretch == 0) {
    if (run.windows.size() == kMostWindows) halve();
    run.windows.emplace_back();
  }
  for (std::uint64_t events = sight.events; events != 0; events &= events - 1) {
    ++run.windows.back().events[static_cast<std::size_t>(std::countr_zero(events))];
  }
  ++run.cycles;
  return begins || run.cycles % run.stretch == 0;
}

void EngineLog::begin_run(const EngineSight& sight) {
  runs_.emplace_back();
  pass_ = 0;
  before_ = {};
  before_.started = sight.started;
  before_.ended = sight.ended;
  last_end_.fill(0);
  own_.fill(0);
  for (auto& begins : begins_) begins.clear();
}

/// The counts of a pass begin at 0 again; then all units of the one before are idle.
void EngineLog::follow_units(const EngineSight& sight) {
  EngineRun& run = runs_.back();
  if (sight.started == before_.started && sight.ended == before_.ended) return;
  bool next_pass = false;
  for (std::size_t u = 0; u < kUnits; ++u) next_pass |= sight.ended[u] < before_.ended[u];
  if (next_pass) {
    ++pass_;
    before_ = {};
  }
  for (std::size_t u = 0; u < kUnits; ++u) {
    for (; before_.started[u] < sight.started[u]; ++before_.started[u]) {
      begins_[u].push_back(run.cycles);
    }
    for (; before_.ended[u] < sight.ended[u]; ++before_.ended[u]) {
      // The next one may stand at the unit's door while this one is at work.
      const std::uint64_t started = begins_[u].empty() ? run.cycles : begins_[u].front();
      if (!begins_[u].empty()) begins_[u].pop_front();
      run.instructions.push_back({static_cast<Unit>(u), pass_, before_.ended[u],
                                  std::max(started, last_end_[u]), run.cycles,
                                  std::exchange(own_[u], 0)});
      last_end_[u] = run.cycles;
    }
  }
}

void EngineLog::bank(std::size_t bank, const ddr4::Counters& counters) {
  ddr4::Counters& before = banks_before_[bank];
  const EngineRun& run = runs_.back();
  // What a bank did between runs is no window's.
  if (!run.windows.empty() && run.cycles > 1) {
    EngineWindow& window = runs_.back().windows.back();
    window.reads[bank] += static_cast<std::uint32_t>(counters.reads - before.reads);
    window.writes[bank] += static_cast<std::uint32_t>(counters.writes - before.writes);
    window.refreshes[bank] += static_cast<std::uint32_t>(counters.refreshes - before.refreshes);
  }
  before = counters;
}

void EngineLog::halve() {
  EngineRun& run = runs_.back();
  const auto add = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  for (std::size_t i = 0; i < kMostWindows / 2; ++i) {
    EngineWindow sum = run.windows[2 * i];
    const EngineWindow& second = run.windows[2 * i + 1];
    add(sum.events, second.events);
    add(sum.reads, second.reads);
    add(sum.writes, second.writes);
    add(sum.refreshes, second.refreshes);
    run.windows[i] = sum;
  }
  run.windows.resize(kMostWindows / 2);
  run.stretch *= 2;
}

}  // namespace logos::d5005
