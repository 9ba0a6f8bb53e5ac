// The whole engine on boards that differ in everything but the program: same bits, and every port
// keeps the rules of its bus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "program/error.h"
#include "rtl/board/board_config.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/plan_runner.h"
#include "rtl/driver/registers.h"
#include "rtl/lowering/lowering.h"
#include "tests/contract/contract.h"

namespace logos::d5005 {
namespace {

struct Conditions {
  BoardClocks clocks;
  BoardOptions options;
  bool by_dma = false;
  std::int64_t rows = 8;
  std::int64_t mac_rows = 8;
};

BoardParameters board_with(const BoardClocks& clocks) {
  BoardParameters board = load_board(LOGOS_SOURCE_DIR "/configs/boards/d5005.json", {});
  board.clocks = clocks;
  board.host_link.clock_mhz = clocks.host_mhz;
  return board;
}

PlanOutcome run_under(const Conditions& conditions, const contract::Job& job, Inputs inputs) {
  const Plan plan = lower_programs(job.programs, engine_size(conditions.rows, conditions.mac_rows));
  SimTransport transport(make_board(conditions.rows, conditions.mac_rows,
                                    board_with(conditions.clocks), conditions.options),
                         conditions.by_dma);
  Driver driver(transport, plan.engine);
  PlanOutcome outcome = run_plan(plan, driver, *job.weights, job.identity, inputs, {});
  transport.board().check_nothing_waits();
  return outcome;
}

void expect_reference(const std::string& cut, const Conditions& conditions) {
  const contract::Job job("kjv", cut, 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  const auto expected = contract::run(contract::lane_named("reference"), job, inputs);
  const PlanOutcome got = run_under(conditions, job, inputs);
  ASSERT_EQ(got.outputs.size(), expected.result.outputs.size());
  EXPECT_EQ(std::memcmp(got.outputs.data(), expected.result.outputs.data(),
                        got.outputs.size() * sizeof(float)),
            0);
  std::uint64_t sum = 0;
  for (const std::uint64_t cycles : got.counters.by_category) sum += cycles;
  EXPECT_EQ(sum, got.counters.cycles);
}

Conditions nominal() {
  Conditions conditions;
  conditions.options.check_ports = true;
  return conditions;
}

TEST(Engine, ComputesWhileEveryChannelStalls) {
  Conditions conditions = nominal();
  for (const std::uint32_t often : {30U, 128U, 220U}) {
    conditions.options.stalls_of_256 = often;
    conditions.options.seed = often;
    expect_reference("layer:2@prefill:11", conditions);
  }
}

TEST(Engine, ComputesAtUnequalClocks) {
  Conditions conditions = nominal();
  for (const BoardClocks& clocks : {BoardClocks{300, 300, 300}, BoardClocks{450, 190, 77},
                                    BoardClocks{300.03, 299.99, 300.01}}) {
    conditions.clocks = clocks;
    expect_reference("decode:9", conditions);
  }
}

TEST(Engine, ReadsNothingOfMemoryThatNobodyWrote) {
  Conditions conditions = nominal();
  for (const std::uint64_t seed : {1U, 2U}) {
    conditions.options.fill.noise = true;
    conditions.options.fill.seed = seed;
    expect_reference("batch:3x17", conditions);
  }
}

TEST(Engine, IsLoadedByItsOwnDmaWithTheSameBits) {
  Conditions conditions = nominal();
  conditions.by_dma = true;
  conditions.options.stalls_of_256 = 60;
  expect_reference("layer:1@decode:9", conditions);
}

TEST(Engine, ComputesWithAnyNumberOfRows) {
  Conditions conditions = nominal();
  conditions.options.stalls_of_256 = 60;
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 1}, {16, 16}, {32, 16}};
  for (const auto& [rows, mac_rows] : sizes) {
    conditions.rows = rows;
    conditions.mac_rows = mac_rows;
    expect_reference("decode:9", conditions);
    expect_reference("prefill:37", conditions);
    expect_reference("layer:2@batch:3x17", conditions);
  }
}

TEST(Engine, ItsBoardsMemoryGoesWithTheBanksClock) {
  const std::string file = LOGOS_SOURCE_DIR "/configs/boards/d5005.json";
  const BoardSetting slower[] = {{"clocks.bank_mhz", "250"}};
  EXPECT_EQ(load_board(file, slower).ddr4.memory_clock_mhz, 1000);
  const BoardSetting other[] = {{"ddr4.memory_clock_mhz", "1000"}};
  try {
    load_board(file, other);
    ADD_FAILURE() << "nothing is said";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("follows clocks.bank_mhz"));
  }
}

TEST(Engine, TakesTheSameCyclesAgain) {
  const contract::Job job("kjv", "decode:9", 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  Conditions conditions = nominal();
  conditions.options.stalls_of_256 = 60;
  const PlanOutcome first = run_under(conditions, job, inputs);
  EXPECT_EQ(run_under(conditions, job, inputs).counters.cycles, first.counters.cycles);
  conditions.options.seed = 2;
  EXPECT_NE(run_under(conditions, job, inputs).counters.cycles, first.counters.cycles);
}

TEST(Engine, ItsBoardNamesThePortThatStillWaits) {
  BoardOptions options;
  options.check_ports = true;
  options.bank_faults[2] = {PortFault::kSilent, 0};
  SimTransport transport(make_board(8, 8, board_with({}), options));
  transport.board().check_nothing_waits();
  const HostBuffer buffer = transport.allocate(4096);
  transport.write64(registers::kDmaHost, buffer.address);
  transport.write64(registers::kDmaMemory, 0x100);
  transport.write64(registers::kDmaBytes, 4096);
  transport.write64(registers::kDmaControl, registers::kDmaStart | registers::kDmaToHost);
  transport.wait();
  try {
    transport.board().check_nothing_waits();
    ADD_FAILURE() << "nothing is said";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("board sim: port: bank 2 R at 0x4000: was never answered"));
  }
}

/// A long store over a slow link moves nothing but the lines that the host takes.
TEST(Engine, ItsWatchdogLetsAStoreTakeItsTime) {
  const contract::Job job("kjv", "head@batch:8x5", 1);
  Inputs inputs = contract::inputs_of(job, 3);
  BoardParameters board = board_with({});
  board.host_link.gigabytes_per_second = 2;
  const Plan plan = lower_programs(job.programs, engine_size(8, 8));
  SimTransport transport(make_board(8, 8, board, {}));
  Driver driver(transport, plan.engine);
  driver.reset();
  constexpr std::uint64_t kLimit = 1600;  // the lines in its queue take half of it
  transport.write64(registers::kWatchdogLimit, kLimit);
  const PlanOutcome outcome = run_plan(plan, driver, *job.weights, job.identity, inputs, {});
  EXPECT_GT(outcome.counters.cycles, kLimit);
}

/// What a timeline is made of is what the engine itself counts, and following it changes nothing.
TEST(Engine, IsFollowedByALogThatCountsWhatItsRegistersCount) {
  const contract::Job job("kjv", "prefill:12", 1);
  const Inputs inputs = contract::inputs_of(job, 3);
  const PlanOutcome without = run_under({}, job, inputs);
  Conditions conditions;
  conditions.options.log = std::make_shared<EngineLog>();
  const PlanOutcome with = run_under(conditions, job, inputs);
  EXPECT_EQ(with.counters.cycles, without.counters.cycles);
  EXPECT_EQ(with.counters.by_category, without.counters.by_category);
  ASSERT_EQ(conditions.options.log->runs().size(), 1U);
  const EngineRun& run = conditions.options.log->runs().front();
  EXPECT_EQ(run.cycles, with.counters.cycles);
  std::array<std::uint64_t, kEngineEvents> events{};
  std::array<std::uint64_t, kBanks> reads{};
  for (const EngineWindow& window : run.windows) {
    for (std::size_t e = 0; e < events.size(); ++e) events[e] += window.events[e];
    for (std::size_t b = 0; b < reads.size(); ++b) reads[b] += window.reads[b];
  }
  for (std::size_t c = 0; c < kCategories; ++c) {
    EXPECT_EQ(events[1 + c], with.counters.by_category[c]) << "category " << c;
  }
  for (std::size_t b = 0; b < reads.size(); ++b) {
    const BankCounters& bank = with.counters.banks[b];
    const std::size_t first = kBankEvents + 4 * b;
    EXPECT_EQ(events[first], bank.beats);
    EXPECT_EQ(events[first + 1], bank.waiting);
    EXPECT_EQ(events[first + 2], bank.full);
    EXPECT_EQ(events[first + 3], bank.writes);
    EXPECT_GE(reads[b], bank.beats) << "and what the program itself takes";
  }
  const Plan plan = lower_programs(job.programs, engine_size(8, 8));
  const std::size_t passes = 2;
  EXPECT_EQ(run.instructions.size(), passes * (plan.boards.front().program.size() - 1));
}

}  // namespace
}  // namespace logos::d5005
