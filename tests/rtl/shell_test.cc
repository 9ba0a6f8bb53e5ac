// The engine's shell with the units of engine_units_of_test.sv: programs, copies, errors, resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "Vengine_shell_model.h"
#include "rtl/lowering/instruction.h"
#include "rtl/lowering/layout.h"
#include "tests/rtl/engine_bench.h"

namespace logos::d5005 {
namespace {

using ::testing::IsEmpty;
using Bench = EngineBench<Vengine_shell_model>;

constexpr std::uint64_t kProgramAt = 0x1000;
constexpr std::uint64_t kOutput = 0x40000000;
constexpr const char* kSha256 = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff";

Instruction make(Op op) {
  Instruction i;
  i.op = static_cast<std::uint32_t>(op);
  return i;
}

Instruction stream(Op op, std::uint32_t base, std::uint32_t beats) {
  Instruction i = make(op);
  i.stream_base = base;
  i.stream_beats = beats;
  return i;
}

/// What the units of the test make of the super-beats they have taken.
class Sum {
 public:
  void take(Bench* bench, std::uint64_t at) {
    const std::uint32_t top = sum_[15] >> 31;
    for (std::size_t word = 15; word > 0; --word)
      sum_[word] = sum_[word] << 1 | sum_[word - 1] >> 31;
    sum_[0] = sum_[0] << 1 | top;
    for (const auto& bank : bench->banks) {
      for (std::size_t word = 0; word < 16; ++word) sum_[word] ^= bank->at(at * 64)[word];
    }
  }
  void take(Bench* bench, std::uint64_t at, std::uint64_t beats) {
    for (std::uint64_t beat = 0; beat < beats; ++beat) take(bench, at + beat);
  }
  const Beat& value() const { return sum_; }

 private:
  Beat sum_{};
};

void load(Bench* bench, const std::vector<Instruction>& program, std::uint32_t rows) {
  write_program(static_cast<std::int64_t>(kProgramAt), kSha256, 0, 1, program,
                [&](std::int64_t at, std::span<const std::byte> bytes) {
                  bench->put(static_cast<std::uint64_t>(at), bytes);
                });
  for (std::uint32_t word = 0; word < 4; ++word) {
    std::uint64_t value = 0;
    for (std::uint32_t byte = 0; byte < 8; ++byte) {
      value |= std::uint64_t{word * 8 + byte} << (8 * byte);
    }
    if (word == 3) value |= 0xFFULL << 56;
    bench->write(csr::kIdentity + 8 * word, value);
  }
  bench->write(csr::kProgram, kProgramAt);
  bench->write(csr::kRows, rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    bench->write(csr::kRowTable + 8 * row, std::uint64_t{row} << 32 | (row + 1000));
  }
  for (std::uint32_t segment = 0; segment < 2; ++segment) {
    bench->write(csr::kSegments + 8 * segment, kOutput + (std::uint64_t{segment} << 24) + 1);
  }
}

Beat line_of_host(Bench* bench, std::uint64_t line) {
  return bench->host->at(kOutput + (line >> 15 << 24) + (line & 0x7FFF) * 64);
}

/// Loads rows, streams weights, writes the cache, reads it back behind a fence, stores.
std::vector<Instruction> program_of_all_units() {
  std::vector<Instruction> program;
  program.push_back(stream(Op::kLoad, 0x20000, 3));
  program.push_back(stream(Op::kProduct, 0x30011, 500));
  program.back().need[0] = 1;
  Instruction heads = make(Op::kHeads);
  heads.columns = 2;
  heads.cache_base = 0x50000;
  heads.need[1] = 1;
  program.push_back(heads);
  // Behind the fence, what the heads instruction wrote.
  program.push_back(stream(Op::kProduct, 0x50000, 1));
  program.back().fence = 1;
  program.back().fence_need = 1;
  Instruction store = make(Op::kStore);
  store.host_offset = 0x7FFE;  // its second row lies in the second segment
  store.greedy = 1;
  store.need[1] = 2;
  program.push_back(store);
  program.push_back(make(Op::kEnd));
  return program;
}

Sum expected_of_pass(Bench* bench, std::uint64_t first, std::uint64_t rows) {
  Sum sum;
  sum.take(bench, 0x20000 + 3 * first, 3 * rows);
  sum.take(bench, 0x30011, 500);
  bench->banks[2]->at(0x50000 * 64) = sum.value();
  sum.take(bench, 0x50000);
  return sum;
}

void expect_counters_add_up(Bench* bench) {
  const std::uint64_t cycles = bench->read(csr::kCounters);
  std::uint64_t sum = 0;
  for (std::uint32_t category = 1; category <= 6; ++category) {
    sum += bench->read(csr::kCounters + 8 * category);
  }
  EXPECT_GT(cycles, 0U);
  EXPECT_EQ(sum, cycles);
}

TEST(EngineShell, RunsAProgramInPassesAtAnyClocksAndStalls) {
  const Bench::Periods periods[] = {{},
                                    {3333, 4000, {3333, 3333, 3333, 3333}},
                                    {2500, 4000, {3336, 5000, 2900, 3400}},
                                    {4000, 10000, {3336, 3336, 3337, 3335}},
                                    {3333, 2000, {6000, 3336, 3337, 3335}}};
  std::uint32_t seed = 1;
  for (const Bench::Periods& period : periods) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    AxiMemory::Options options;
    options.answer_percent = 30 + 17 * seed % 70;
    Bench bench(seed++, period, options);
    load(&bench, program_of_all_units(), 19);
    bench.write(csr::kControl, 2);
    const auto status = bench.wait_status(csr::kRunning, 0);
    ASSERT_TRUE(status);
    EXPECT_EQ(*status & (csr::kDone | csr::kFailed), csr::kDone) << bench.read(csr::kErrors);
    EXPECT_EQ(bench.read(csr::kErrors), 0U);
    EXPECT_EQ(bench.read(csr::kFault), 0U);
    for (std::uint64_t first = 0; first < 19; first += 8) {
      const Sum sum = expected_of_pass(&bench, first, std::min<std::uint64_t>(8, 19 - first));
      EXPECT_EQ(line_of_host(&bench, 0x7FFE + first), sum.value());
      EXPECT_EQ(bench.read(csr::kGreedy + 8 * static_cast<std::uint32_t>(first)),
                std::uint64_t{sum.value()[0]} << 32 | first);
    }
    expect_counters_add_up(&bench);
    EXPECT_EQ(bench.read(csr::kCounters + 8 * 7), 3U);  // passes
    const std::uint64_t beats = 1 + 2 + 57 + 3 * 501;   // header, instructions, rows, products
    for (std::uint32_t bank = 0; bank < 4; ++bank) {
      EXPECT_EQ(bench.read(0x240 + 32 * bank), beats);
      EXPECT_EQ(bench.read(0x240 + 32 * bank + 24), bank == 2 ? 3U : 0U);
      bench.checkers[bank]->finish();
    }
    bench.host_checker->finish();
    EXPECT_THAT(bench.faults(), IsEmpty());
  }
}

TEST(EngineShell, CopiesBothWays) {
  Bench bench(7);
  constexpr std::uint64_t kLines = 1003;  // no whole super-beat at the end
  std::vector<Beat> lines;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    lines.push_back(bench.host->at(0x123450000 + 64 * line));
  }
  bench.write(csr::kCopyHost, 0x123450000);
  bench.write(csr::kCopyMemory, 0x4444);
  bench.write(csr::kCopyBytes, kLines * 64);
  bench.write(csr::kCopyControl, 1);
  ASSERT_TRUE(bench.wait_status(csr::kCopying | csr::kCopied, csr::kCopied));
  for (std::uint64_t line = 0; line < kLines; ++line) {
    ASSERT_EQ(bench.banks[line % 4]->at((0x4444 + line / 4) * 64), lines[line]) << line;
  }
  EXPECT_EQ(bench.read(0x350), kLines);

  bench.write(csr::kCopyHost, 0x9870000);
  bench.write(csr::kCopyControl, 3);
  ASSERT_TRUE(bench.wait_status(csr::kCopying | csr::kCopied, csr::kCopied));
  for (std::uint64_t line = 0; line < kLines; ++line) {
    ASSERT_EQ(bench.host->at(0x9870000 + 64 * line), lines[line]) << line;
  }
  EXPECT_EQ(bench.host->beats_written(), kLines);
  EXPECT_EQ(bench.read(csr::kErrors), 0U);
  bench.host_checker->finish();
  EXPECT_THAT(bench.faults(), IsEmpty());
}

/// Starts a program that must fail, and gives the errors.
std::uint64_t errors_of(Bench* bench) {
  bench->write(csr::kControl, 2);
  const auto status = bench->wait_status(csr::kRunning, 0);
  EXPECT_TRUE(status);
  EXPECT_EQ(status.value_or(0) & (csr::kDone | csr::kFailed), csr::kFailed);
  return bench->read(csr::kErrors);
}

/// After an error: a start is refused, a soft reset mends all.
void expect_recovery(Bench* bench) {
  bench->write(csr::kErrors, ~0ULL);
  bench->write(csr::kControl, 2);
  EXPECT_EQ(bench->read(csr::kErrors), 1ULL << 14);
  bench->write(csr::kErrors, ~0ULL);
  bench->soft_reset();
  load(bench, program_of_all_units(), 3);
  bench->write(csr::kControl, 2);
  const auto status = bench->wait_status(csr::kRunning, 0);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status & (csr::kDone | csr::kFailed), csr::kDone) << bench->read(csr::kErrors);
  const Sum sum = expected_of_pass(bench, 0, 3);
  EXPECT_EQ(line_of_host(bench, 0x7FFE), sum.value());
  EXPECT_THAT(bench->faults(), IsEmpty());
}

TEST(EngineShell, RefusesAProgramOfAnotherIdentity) {
  Bench bench(11);
  load(&bench, program_of_all_units(), 3);
  bench.write(csr::kIdentity + 24, 1);
  EXPECT_EQ(errors_of(&bench), 1ULL << 10);
  EXPECT_EQ(bench.read(0x378) >> 56, 0xFFU);  // the one that was loaded
  EXPECT_EQ(bench.host->beats_written(), 0U);
  expect_recovery(&bench);
}

TEST(EngineShell, RefusesWhatIsNoProgram) {
  Bench bench(12);
  load(&bench, program_of_all_units(), 3);
  bench.write(csr::kProgram, 0x777);  // noise
  EXPECT_EQ(errors_of(&bench), 1ULL << 11);
  bench.soft_reset();
  bench.write(csr::kErrors, ~0ULL);
  std::vector<Instruction> endless = program_of_all_units();
  endless.pop_back();
  load(&bench, endless, 3);
  EXPECT_EQ(errors_of(&bench), 1ULL << 11);
  expect_recovery(&bench);
}

TEST(EngineShell, RefusesRowsOutOfRange) {
  for (const std::uint32_t rows : {0U, 8193U, 65535U}) {
    Bench bench(13);
    load(&bench, program_of_all_units(), 3);
    bench.write(csr::kRows, rows);
    EXPECT_EQ(errors_of(&bench), 1ULL << 17);
    expect_recovery(&bench);
  }
}

TEST(EngineShell, StopsAtAnUnknownInstruction) {
  Bench bench(14);
  load(&bench, program_of_all_units(), 3);
  bench.banks[2]->at((kProgramAt + 1) * 64)[0] |= 0xFF;  // the third instruction
  EXPECT_EQ(errors_of(&bench), 1ULL << 12);
  expect_recovery(&bench);
}

TEST(EngineShell, NamesTheBankThatAnswersWithAnError) {
  for (std::size_t bank = 0; bank < 4; ++bank) {
    Bench bench(15);
    load(&bench, program_of_all_units(), 3);
    bench.banks[bank]->fail_read((0x30011 + 77) * 64);
    EXPECT_EQ(errors_of(&bench), 1ULL << bank);
    bench.banks[bank]->fail_read(1);
    expect_recovery(&bench);
  }
  Bench bench(16);
  load(&bench, program_of_all_units(), 3);
  bench.banks[2]->fail_write(0x50000 * 64);
  EXPECT_EQ(errors_of(&bench), 1ULL << 6);
  bench.banks[2]->fail_write(1);
  expect_recovery(&bench);
}

TEST(EngineShell, ReportsTheHostsErrorsAndLinesOutsideTheSegments) {
  Bench bench(17);
  load(&bench, program_of_all_units(), 3);
  bench.host->fail_write(kOutput + 0x7FFE * 64);
  EXPECT_EQ(errors_of(&bench), 1ULL << 9);
  bench.host->fail_write(1);
  bench.write(csr::kErrors, ~0ULL);
  bench.soft_reset();
  bench.write(csr::kSegments, kOutput);  // does not count
  EXPECT_EQ(errors_of(&bench), 1ULL << 16);
  bench.soft_reset();
  bench.write(csr::kErrors, ~0ULL);
  bench.host->fail_read(0x100040);
  bench.write(csr::kCopyHost, 0x100000);
  bench.write(csr::kCopyMemory, 0x4444);
  bench.write(csr::kCopyBytes, 256);
  bench.write(csr::kCopyControl, 1);
  EXPECT_TRUE(bench.wait_status(csr::kCopying | csr::kFailed, csr::kFailed));
  EXPECT_EQ(bench.read(csr::kErrors), 1ULL << 8);
  bench.host->fail_read(1);
  expect_recovery(&bench);
}

TEST(EngineShell, ReportsAddressesOutsideTheMemory) {
  Bench bench(18);
  std::vector<Instruction> program = {stream(Op::kProduct, (1U << 27) - 1, 2), make(Op::kEnd)};
  load(&bench, program, 1);
  EXPECT_EQ(errors_of(&bench), 1ULL << 15);
  expect_recovery(&bench);
}

TEST(EngineShell, TheWatchdogNamesASilentBank) {
  for (std::size_t bank = 0; bank < 4; ++bank) {
    Bench bench(19);
    load(&bench, program_of_all_units(), 3);
    bench.write(csr::kWatchdogLimit, 3000);
    bench.banks[bank]->set_silent(true);
    EXPECT_EQ(errors_of(&bench), 1ULL << 13);
    const std::uint64_t cause = bench.read(csr::kCause);
    EXPECT_EQ(cause & 0xF, 1U << bank);
    EXPECT_EQ(cause >> 16 & 7, 5U);  // the loader waits
    bench.banks[bank]->set_silent(false);
    expect_recovery(&bench);
  }
}

TEST(EngineShell, TellsTheStatesItsPartsAreIn) {
  Bench bench(22);
  load(&bench, program_of_all_units(), 3);
  EXPECT_EQ(bench.read(csr::kStates), 0U);
  bench.banks[1]->set_silent(true);
  bench.write(csr::kWatchdogLimit, 3000);
  bench.write(csr::kControl, 2);
  for (int n = 0; n < 100; ++n) bench.read(csr::kStates);  // time passes
  // The run loads (1), it is the loader's (5) turn, and that waits for the header (2).
  EXPECT_EQ(bench.read(csr::kStates), 1ULL << 27 | 5ULL << 24 | 1ULL << 20 | 2ULL << 12);
  EXPECT_EQ(bench.read(csr::kStates + 0x10), 0U);  // there is no register
}

TEST(EngineShell, TheWatchdogNamesAUnitThatNeverEnds) {
  Bench bench(20);
  std::vector<Instruction> program = program_of_all_units();
  program[2].gain = 60000;  // heads
  load(&bench, program, 3);
  bench.write(csr::kWatchdogLimit, 5000);
  EXPECT_EQ(errors_of(&bench), 1ULL << 13);
  const std::uint64_t cause = bench.read(csr::kCause);
  const std::uint64_t at_work = cause >> 8 & ~(cause >> 32) & 0x1F;  // busy, and not for the stream
  EXPECT_EQ(at_work, 1U << 2);
  expect_recovery(&bench);
}

TEST(EngineShell, KeepsTheLowestLineThatRaisedFault) {
  Bench bench(21);
  std::vector<Instruction> program = program_of_all_units();
  program[0].norm = 1;
  program[0].line = 30;
  program[1].norm = 1;
  program[1].line = 20;
  load(&bench, program, 19);
  bench.write(csr::kControl, 2);
  ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
  EXPECT_EQ(bench.read(csr::kFault), 20U << 16 | 1);
  load(&bench, program_of_all_units(), 1);
  bench.write(csr::kControl, 2);
  ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
  EXPECT_EQ(bench.read(csr::kFault), 0U);
}

TEST(EngineShell, ASoftResetInTheMiddleOfTrafficLeavesNothingBehind) {
  for (std::uint32_t seed = 30; seed < 42; ++seed) {
    SCOPED_TRACE(seed);
    AxiMemory::Options slow;
    slow.min_latency = 50;
    slow.max_latency = 300;
    slow.ready_percent = 20 + seed % 3 * 40;
    Bench bench(seed, {}, slow);
    load(&bench, program_of_all_units(), 30);
    bench.write(csr::kControl, 2);
    bench.clocks.run(300 + seed * 1237 % 9000);
    const std::uint64_t epoch = bench.read(csr::kStatus) >> 8 & 0xFF;
    bench.soft_reset();
    EXPECT_EQ(bench.read(csr::kStatus) & 0x1F0FFF, (epoch + 1) << 8 & 0xFFF);
    load(&bench, program_of_all_units(), 9);
    bench.write(csr::kControl, 2);
    const auto status = bench.wait_status(csr::kRunning, 0);
    ASSERT_TRUE(status);
    EXPECT_EQ(*status & (csr::kDone | csr::kFailed), csr::kDone) << bench.read(csr::kErrors);
    for (std::uint64_t first = 0; first < 9; first += 8) {
      const Sum sum = expected_of_pass(&bench, first, std::min<std::uint64_t>(8, 9 - first));
      EXPECT_EQ(line_of_host(&bench, 0x7FFE + first), sum.value());
    }
    EXPECT_THAT(bench.faults(), IsEmpty());
  }
}

TEST(EngineShell, ASoftResetInTheMiddleOfACopyLeavesNothingBehind) {
  for (const std::uint64_t to_host : {0ULL, 2ULL}) {
    Bench bench(50);
    bench.write(csr::kCopyHost, 0x100000);
    bench.write(csr::kCopyMemory, 0x4444);
    bench.write(csr::kCopyBytes, 0x10000);
    bench.write(csr::kCopyControl, 1 | to_host);
    bench.clocks.run(1500);
    EXPECT_EQ(bench.read(csr::kStatus) & csr::kCopying, csr::kCopying);
    bench.soft_reset();
    load(&bench, program_of_all_units(), 3);
    bench.write(csr::kControl, 2);
    ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
    const Sum sum = expected_of_pass(&bench, 0, 3);
    EXPECT_EQ(line_of_host(&bench, 0x7FFE), sum.value());
    EXPECT_THAT(bench.faults(), IsEmpty());
  }
}

TEST(EngineShell, ABanksOwnResetInTheMiddleOfARunBeginsASoftResetOfAll) {
  for (std::size_t bank = 0; bank < 4; ++bank) {
    SCOPED_TRACE(bank);
    AxiMemory::Options slow;
    slow.min_latency = 50;
    slow.max_latency = 300;
    Bench bench(43, {}, slow);
    load(&bench, program_of_all_units(), 30);
    bench.write(csr::kControl, 2);
    bench.clocks.run(3000);
    bench.model().bank_rst_ni = static_cast<std::uint8_t>(0xF & ~(1U << bank));
    bench.banks[bank]->forget_requests();
    bench.clocks.run(500);
    const std::uint64_t status = bench.read(csr::kStatus);
    EXPECT_EQ(status & (csr::kResetting | csr::kRunning), csr::kResetting);
    EXPECT_EQ(status >> 20 & 0x1F, 1U << bank);  // the others are through it
    bench.model().bank_rst_ni = 0xF;
    bench.checkers[bank] = std::make_unique<AxiChecker>("bank", AxiChecker::Rules{});
    bench.wait_for_reset();
    load(&bench, program_of_all_units(), 3);
    bench.write(csr::kControl, 2);
    ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
    EXPECT_EQ(line_of_host(&bench, 0x7FFE), expected_of_pass(&bench, 0, 3).value());
    EXPECT_THAT(bench.faults(), IsEmpty());
  }
}

TEST(EngineShell, AStartRightAfterAResetIsNotLost) {
  for (const std::uint64_t engine_ps : {2000U, 3333U, 12000U}) {
    Bench bench(44, {engine_ps, 4000, {3336, 9000, 3337, 3335}}, {});
    for (int count = 0; count < 5; ++count) {
      load(&bench, program_of_all_units(), 1);
      bench.write(csr::kControl, 1);
      while ((bench.read(csr::kStatus) & csr::kResetting) != 0) {
      }
      bench.write(csr::kControl, 2);
      ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone, 2000));
    }
  }
}

TEST(EngineShell, StreamsAtTheBanksPace) {
  AxiMemory::Options fast;
  fast.ready_percent = fast.answer_percent = 100;
  fast.min_latency = fast.max_latency = 60;
  Bench bench(45, {}, fast);
  std::vector<Instruction> program;
  for (std::uint32_t count = 0; count < 8; ++count) {
    program.push_back(stream(Op::kAttend, 0, 0));  // no keys: an instruction to walk over
    program.push_back(stream(Op::kProduct, 0x30011 + count * 1777, 1000 + count));
  }
  program.push_back(make(Op::kEnd));
  load(&bench, program, 1);
  bench.write(csr::kControl, 2);
  ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
  // The units of the test take three beats in four cycles: the stream must never be what is late.
  const std::uint64_t taken = bench.read(0x240);
  const std::uint64_t waiting = bench.read(0x248);
  EXPECT_EQ(taken, 1 + 5 + 8 * 1000 + 28);
  EXPECT_LT(waiting, 700U);  // the header's and the program's round trips, and the first beats'
  EXPECT_GE(bench.read(csr::kCounters + 8), 8028U);  // weight stream
  expect_counters_add_up(&bench);
}

TEST(EngineShell, CountsWaitingForWeightsAsTheirStream) {
  AxiMemory::Options slow;
  slow.answer_percent = 20;
  Bench bench(46, {}, slow);
  load(&bench, {stream(Op::kProduct, 0x30011, 1000), make(Op::kEnd)}, 1);
  bench.write(csr::kControl, 2);
  ASSERT_TRUE(bench.wait_status(csr::kRunning | csr::kDone, csr::kDone));
  const std::uint64_t waiting = bench.read(0x248);
  EXPECT_GT(waiting, 2000U);  // most of it for weights, some for the program
  EXPECT_GT(bench.read(csr::kCounters + 8), 1000 + waiting / 2);
  expect_counters_add_up(&bench);
}

TEST(EngineShell, AnswersReadsWhileAnyOtherClockStandsStill) {
  for (std::size_t clock = 0; clock < 6; ++clock) {
    if (clock == 1) continue;  // the CSRs' own
    SCOPED_TRACE(clock);
    Bench bench(60);
    bench.clocks.set_period(clock, 0);
    for (int count = 0; count < 3; ++count) bench.read(csr::kCounters);
    EXPECT_EQ(bench.read(csr::kErrors), clock == 0 ? 1ULL << 18 : 0U);
    const std::uint32_t own = clock == 0 ? 0x68 : 0x70 + 8 * static_cast<std::uint32_t>(clock - 2);
    const std::uint64_t still = bench.read(own);
    const std::uint64_t host = bench.read(0x60);
    bench.clocks.run(1000);
    EXPECT_EQ(bench.read(own), still);
    EXPECT_GT(bench.read(0x60), host);
    // A reset cannot end without it, and says who is missing.
    bench.write(csr::kControl, 1);
    bench.clocks.run(2000);
    const std::uint64_t status = bench.read(csr::kStatus);
    EXPECT_EQ(status & csr::kResetting, csr::kResetting);
    const std::uint64_t bit = clock == 0 ? 4 : clock - 2;
    EXPECT_EQ(status >> 20 & 0x1F, 0x1FU & ~(1U << bit));
    bench.clocks.set_period(clock, 3333);
    bench.wait_for_reset();
    EXPECT_THAT(bench.faults(), IsEmpty());
  }
}

TEST(EngineShell, CountsClocksInTheirRatio) {
  Bench bench(61, {3000, 4000, {3336, 6000, 2900, 3335}}, {});
  std::array<std::uint64_t, 6> before{};
  for (std::uint32_t clock = 0; clock < 6; ++clock) before[clock] = bench.read(0x60 + 8 * clock);
  bench.clocks.run(60000);
  const std::uint64_t periods[] = {4000, 3000, 3336, 6000, 2900, 3335};
  const double host = static_cast<double>(bench.read(0x60) - before[0]);
  for (std::uint32_t clock = 1; clock < 6; ++clock) {
    const double ratio = static_cast<double>(bench.read(0x60 + 8 * clock) - before[clock]) / host;
    EXPECT_NEAR(ratio, 4000.0 / static_cast<double>(periods[clock]), 0.02) << clock;
  }
}

}  // namespace
}  // namespace logos::d5005
