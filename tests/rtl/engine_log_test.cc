// What an EngineLog makes of what it sees; on an engine: tests/contract/timeline_test.cc.
#include "rtl/board/engine_log.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "sim/timing.h"

namespace logos::d5005 {
namespace {

constexpr std::uint64_t kActive = 1;
constexpr std::size_t kProduct = 1;

EngineSight sight(std::uint64_t events, std::uint16_t started, std::uint16_t ended) {
  EngineSight sight;
  sight.events = events;
  sight.started[kProduct] = started;
  sight.ended[kProduct] = ended;
  return sight;
}

TEST(EngineLog, CountsTheCyclesOfEachRun) {
  EngineLog log;
  EXPECT_FALSE(log.look(sight(0, 0, 0)));
  for (int cycle = 0; cycle < 5; ++cycle) log.look(sight(kActive, 0, 0));
  EXPECT_TRUE(log.look(sight(0, 0, 0)));
  EXPECT_FALSE(log.look(sight(0, 0, 0)));
  log.look(sight(kActive, 0, 0));
  ASSERT_EQ(log.runs().size(), 2u);
  EXPECT_EQ(log.runs()[0].cycles, 5u);
  EXPECT_EQ(log.runs()[1].cycles, 1u);
}

TEST(EngineLog, BeginsAnInstructionThatStoodAtTheDoorWithTheEndOfTheOneBefore) {
  EngineLog log;
  log.look(sight(kActive, 0, 0));  // cycle 0
  log.look(sight(kActive, 1, 0));
  log.look(sight(kActive, 2, 0));
  log.look(sight(kActive, 2, 0));
  log.look(sight(kActive, 2, 1));  // cycle 4
  log.look(sight(kActive, 2, 2));
  const auto& times = log.runs()[0].instructions;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].unit, Unit::kProduct);
  EXPECT_EQ(times[0].begin, 1u);
  EXPECT_EQ(times[0].end, 4u);
  EXPECT_EQ(times[1].index, 1);
  EXPECT_EQ(times[1].begin, 4u);
  EXPECT_EQ(times[1].end, 5u);
}

TEST(EngineLog, CountsInstructionsFromZeroInEachPass) {
  EngineLog log;
  log.look(sight(kActive, 1, 0));
  log.look(sight(kActive, 1, 1));
  log.look(sight(kActive, 0, 0));
  log.look(sight(kActive, 1, 0));
  log.look(sight(kActive, 1, 1));
  const auto& times = log.runs()[0].instructions;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].pass, 0);
  EXPECT_EQ(times[1].pass, 1);
  EXPECT_EQ(times[1].index, 0);
  EXPECT_EQ(times[1].begin, 3u);
}

std::uint64_t events(std::initializer_list<std::size_t> set) {
  std::uint64_t bits = kActive;
  for (const std::size_t event : set) bits |= std::uint64_t{1} << event;
  return bits;
}
constexpr std::size_t busy(Unit unit) { return kUnitEvents + 3 * static_cast<std::size_t>(unit); }
constexpr std::size_t of(Category category) { return 1 + static_cast<std::size_t>(category); }

TEST(UnitOfCycle, IsTheOneThatGivesTheCycleItsCategory) {
  const auto unit = [](std::initializer_list<std::size_t> set) {
    return unit_of_cycle(events(set));
  };
  const auto number = [](Unit of_cycle) { return static_cast<std::size_t>(of_cycle); };
  const std::size_t rows = busy(Unit::kRows);
  const std::size_t product = busy(Unit::kProduct);
  const std::size_t attend = busy(Unit::kAttend);
  const std::size_t store = busy(Unit::kStore);
  EXPECT_EQ(unit({of(Category::kWeightStream), rows, attend}), number(Unit::kProduct));
  EXPECT_EQ(unit({of(Category::kKvStream), product}), number(Unit::kAttend));
  EXPECT_EQ(unit({of(Category::kCompute), rows, product}), number(Unit::kProduct));
  EXPECT_EQ(unit({of(Category::kCompute), rows, product, product + 1}), number(Unit::kRows));
  EXPECT_EQ(unit({of(Category::kCompute), rows, attend, attend + 2}), number(Unit::kRows));
  EXPECT_EQ(unit({of(Category::kMovement), product, store}), number(Unit::kStore));
  EXPECT_EQ(unit({of(Category::kMovement), rows, rows + 1}), number(Unit::kRows));
  EXPECT_EQ(unit({of(Category::kSynchronisation), rows, rows + 1}), number(Unit::kRows));
  EXPECT_EQ(unit({of(Category::kIdle)}), std::size_t{kUnits});
}

TEST(EngineLog, GivesAnInstructionTheCyclesThatAreItsOwn) {
  const std::uint64_t streams = events({of(Category::kWeightStream)});
  EngineLog log;
  log.look(sight(streams, 0, 0));  // of no instruction: it has not started
  log.look(sight(kActive, 1, 0));
  log.look(sight(streams, 1, 0));
  log.look(sight(streams, 1, 1));
  log.look(sight(streams, 2, 1));
  log.look(sight(streams, 2, 2));
  const auto& times = log.runs()[0].instructions;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].own, 2u);
  EXPECT_EQ(times[1].own, 1u);
}

/// A run of so many cycles in which event 5 happens in every second one and a bank reads each time
/// that it is looked at.
EngineRun run_of(std::uint64_t cycles) {
  EngineLog log;
  ddr4::Counters counters;
  counters.reads = 7;  // before the run
  for (std::uint64_t cycle = 0; cycle <= cycles; ++cycle) {
    const std::uint64_t events = cycle < cycles ? kActive | (cycle % 2) << 5 : 0;
    if (cycle > 0) counters.reads += 1;
    if (log.look(sight(events, 0, 0))) log.bank(2, counters);
  }
  return log.runs()[0];
}

TEST(EngineLog, LosesNoEventHoweverLongTheRun) {
  for (const std::uint64_t cycles :
       {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{65},
        std::uint64_t{64 * 1024}, std::uint64_t{64 * 1024 + 1}, std::uint64_t{300'001}}) {
    const EngineRun run = run_of(cycles);
    EXPECT_EQ(run.cycles, cycles);
    EXPECT_LE(run.windows.size(), EngineLog::kMostWindows);
    EXPECT_EQ(run.windows.size(), (cycles + run.stretch - 1) / run.stretch);
    std::uint64_t active = 0;
    std::uint64_t fifth = 0;
    std::uint64_t reads = 0;
    for (const EngineWindow& window : run.windows) {
      active += window.events[0];
      fifth += window.events[5];
      reads += window.reads[2];
      EXPECT_LE(window.events[0], run.stretch);
    }
    EXPECT_EQ(active, cycles);
    EXPECT_EQ(fifth, cycles / 2);
    if (cycles > 1) {
      EXPECT_EQ(reads, cycles) << "what was read before the run is not of it";
    }
  }
}

}  // namespace
}  // namespace logos::d5005
