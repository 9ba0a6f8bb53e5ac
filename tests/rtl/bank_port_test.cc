#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>

#include "Vbank_port_model.h"
#include "rtl/board/axi_checker.h"
#include "tests/rtl/axi_memory.h"
#include "tests/rtl/clocks.h"

namespace logos {
namespace {

using ::testing::IsEmpty;

constexpr unsigned kFifoBeats = 128;

struct Write {
  std::uint32_t address;
  std::uint64_t strobe;
  Beat data;
};

class BankPortBench {
 public:
  BankPortBench(std::uint64_t engine_ps, std::uint64_t bank_ps, AxiMemory::Options options,
                std::uint32_t seed)
      : memory(options, seed + 1), random_(seed) {
    clocks.add(
        engine_ps, seed % 997, [this](bool level) { port.clk_i = level; },
        [this] { sample_engine(); }, [this] { drive_engine(); });
    clocks.add(
        bank_ps, seed % 1013, [this](bool level) { port.bank_clk_i = level; },
        [this] { sample_bank(); }, [this] { drive_bank(); });
    port.bank_rst_ni = 0;
    port.rst_ni = port.bank_soft_rst_ni = 0;
    port.epoch_i = 7;
    clocks.run(40);
    port.bank_rst_ni = 1;
    clocks.run(3);
    port.rst_ni = port.bank_soft_rst_ni = 1;
  }

  void soft_reset() {
    port.epoch_i = static_cast<std::uint8_t>(port.epoch_i + 1);
    port.rst_ni = port.bank_soft_rst_ni = 0;
    commands.clear();
    writes.clear();
    expected.clear();
    outstanding_ = 0;
    clocks.run(40);
    port.rst_ni = port.bank_soft_rst_ni = 1;
  }

  /// Queues a read burst and what it must bring.
  void read(std::uint32_t address, unsigned beats) {
    commands.push_back({address, beats});
    for (unsigned beat = 0; beat < beats; ++beat) {
      expected.push_back(memory.at(std::uint64_t{address + beat} * 64));
    }
  }

  bool idle() const { return commands.empty() && writes.empty() && expected.empty(); }

  Vbank_port_model port;
  Clocks clocks{[this] { port.eval(); }};
  AxiMemory memory;
  AxiChecker checker{"bank 0", {}};
  std::deque<std::pair<std::uint32_t, unsigned>> commands;
  std::deque<Write> writes;
  std::deque<Beat> expected;
  unsigned ready_percent = 60;
  unsigned read_errors = 0;
  unsigned write_errors = 0;
  bool saw_pending = false;

 private:
  void sample_engine() {
    if (!port.rst_ni) return;
    saw_pending |= port.pending_o != 0;
    if (port.command_valid_i && port.command_ready_o) {
      outstanding_ += port.command_beats_i;
      commands.pop_front();
    }
    if (port.write_valid_i && port.write_ready_o) writes.pop_front();
    if (port.data_valid_o && port.data_ready_i) {
      ASSERT_FALSE(expected.empty());
      for (std::size_t word = 0; word < 16; ++word) {
        ASSERT_EQ(port.data_o[word], expected.front()[word]);
      }
      expected.pop_front();
      --outstanding_;
    }
  }

  void drive_engine() {
    port.data_ready_i = random_() % 100 < ready_percent;
    // The credit that stream_fetch keeps.
    port.command_valid_i =
        !commands.empty() && outstanding_ + commands.front().second <= kFifoBeats;
    if (port.command_valid_i) {
      port.command_address_i = commands.front().first;
      port.command_beats_i = static_cast<std::uint8_t>(commands.front().second);
    }
    port.write_valid_i = !writes.empty();
    if (port.write_valid_i) {
      port.write_address_i = writes.front().address;
      port.write_strobe_i = writes.front().strobe;
      std::copy(writes.front().data.begin(), writes.front().data.end(), &port.write_data_i[0]);
    }
  }

  void sample_bank() {
    AxiCycle now;
    now.ar = {port.arvalid_o != 0, port.arready_i != 0, port.arid_o, port.araddr_o, port.arlen_o};
    now.aw = {port.awvalid_o != 0, port.awready_i != 0, port.awid_o, port.awaddr_o};
    now.w.valid = port.wvalid_o;
    now.w.ready = port.wready_i;
    now.w.last = true;
    now.w.strobe = port.wstrb_o;
    now.r = {port.rvalid_i != 0, port.rready_o != 0, port.rid_i, last_, port.rresp_i};
    for (std::size_t word = 0; word < 16; ++word) {
      now.w.data[word] = port.wdata_o[word];
      now.r.data[word] = port.rdata_i[word];
    }
    now.b = {port.bvalid_i != 0, port.bready_o != 0, port.bid_i, port.bresp_i};
    if (!port.bank_rst_ni) return;
    checker.cycle(now);
    memory.sample(now);
    // Levels until a reset: counted as they rise.
    read_errors += port.read_error_o && !read_error_before_;
    write_errors += port.write_error_o && !write_error_before_;
    read_error_before_ = port.read_error_o;
    write_error_before_ = port.write_error_o;
    if (port.rvalid_i) {
      EXPECT_TRUE(port.rready_o) << "a beat waits at the memory";
    }
  }

  void drive_bank() {
    const AxiCycle& side = memory.drive();
    port.arready_i = side.ar.ready;
    port.awready_i = side.aw.ready;
    port.wready_i = side.w.ready;
    port.rvalid_i = side.r.valid;
    port.rid_i = static_cast<std::uint8_t>(side.r.id);
    port.rresp_i = static_cast<std::uint8_t>(side.r.response);
    last_ = side.r.last;
    std::copy(side.r.data.begin(), side.r.data.end(), &port.rdata_i[0]);
    port.bvalid_i = side.b.valid;
    port.bid_i = static_cast<std::uint8_t>(side.b.id);
    port.bresp_i = static_cast<std::uint8_t>(side.b.response);
  }

  std::mt19937 random_;
  unsigned outstanding_ = 0;
  bool last_ = false;
  bool read_error_before_ = false;
  bool write_error_before_ = false;
};

/// Random bursts and writes to other places; everything arrives, in order.
void run_mixed(std::uint64_t engine_ps, std::uint64_t bank_ps, std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << engine_ps << ' ' << bank_ps << " seed " << seed);
  BankPortBench bench(engine_ps, bank_ps, {}, seed);
  std::mt19937 random(seed);
  for (int burst = 0; burst < 60; ++burst) {
    const unsigned beats = random() % 4 == 0 ? 64 : 1 + random() % 64;
    const auto address =
        static_cast<std::uint32_t>(random() % 0x1000 * 64 + random() % (65 - beats));
    bench.read(0x4000000 + address, beats);
  }
  std::vector<Write> written;
  for (std::uint32_t index = 0; index < 300; ++index) {
    Write write{index, 0xFFULL << (random() % 8 * 8), {}};
    for (std::uint32_t& word : write.data) word = static_cast<std::uint32_t>(random());
    bench.memory.at(std::uint64_t{index} * 64) = {};
    written.push_back(write);
    bench.writes.push_back(write);
  }
  ASSERT_TRUE(bench.clocks.run_until(
      [&] { return testing::Test::HasFatalFailure() || (bench.idle() && !bench.port.pending_o); },
      200000));
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  EXPECT_TRUE(bench.saw_pending);
  for (const Write& write : written) {
    const Beat& beat = bench.memory.at(std::uint64_t{write.address} * 64);
    for (unsigned word = 0; word < 16; ++word) {
      const bool on = (write.strobe >> (word * 4) & 1) != 0;
      ASSERT_EQ(beat[word], on ? write.data[word] : 0U);
    }
  }
  bench.checker.finish();
  EXPECT_THAT(bench.checker.faults(), IsEmpty());
  EXPECT_EQ(bench.checker.writes(), 300U);
  EXPECT_EQ(bench.read_errors + bench.write_errors, 0U);
}

TEST(BankPort, ReadsAndWritesAtAnyClocks) {
  run_mixed(3333, 3336, 1);
  run_mixed(3336, 3333, 2);
  run_mixed(2000, 5100, 3);
  run_mixed(5100, 2000, 4);
}

TEST(BankPort, KeepsABeatACycle) {
  AxiMemory::Options fast;
  fast.ready_percent = fast.answer_percent = 100;
  fast.min_latency = fast.max_latency = 20;
  BankPortBench bench(3333, 3336, fast, 5);
  bench.ready_percent = 100;
  for (std::uint32_t burst = 0; burst < 100; ++burst) bench.read(burst * 64, 64);
  const std::uint64_t begin = bench.clocks.cycles(1);
  ASSERT_TRUE(bench.clocks.run_until([&] { return bench.idle(); }, 30000));
  EXPECT_LT(bench.clocks.cycles(1) - begin, 6400 + 80U);
}

TEST(BankPort, ASoftResetDropsLateAnswersAndKeepsTheLawOfThePort) {
  for (std::uint32_t seed = 10; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    AxiMemory::Options slow;
    slow.ready_percent = 10;
    slow.min_latency = 100;
    slow.max_latency = 200;
    BankPortBench bench(3333, 3336, slow, seed);
    for (std::uint32_t burst = 0; burst < 8; ++burst) bench.read(burst * 64, 16);
    for (std::uint32_t index = 0; index < 40; ++index) {
      bench.writes.push_back({0x10000 + index, ~0ULL, {}});
    }
    bench.clocks.run(200 + seed * 13);
    bench.soft_reset();
    EXPECT_FALSE(bench.port.pending_o);
    bench.memory.set_options({});
    for (std::uint32_t burst = 0; burst < 20; ++burst) bench.read(0x8000 + burst * 64, 33);
    bench.writes.push_back({0x20000, ~0ULL, {}});
    ASSERT_TRUE(bench.clocks.run_until(
        [&] { return testing::Test::HasFatalFailure() || (bench.idle() && !bench.port.pending_o); },
        100000));
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    bench.clocks.run(2000);  // the old answers come to their end
    bench.checker.finish();
    EXPECT_THAT(bench.checker.faults(), IsEmpty());
  }
}

TEST(BankPort, ReportsErrorsOfItsOwnEpochAlone) {
  BankPortBench bench(3333, 3336, {}, 30);
  bench.memory.fail_read(0x105 * 64);
  bench.memory.fail_write(0x205 * 64);
  bench.read(0x100, 16);
  bench.writes.push_back({0x205, ~0ULL, {}});
  bench.writes.push_back({0x206, ~0ULL, {}});
  ASSERT_TRUE(bench.clocks.run_until([&] { return bench.idle() && !bench.port.pending_o; }, 20000));
  EXPECT_EQ(bench.read_errors, 1U);
  EXPECT_EQ(bench.write_errors, 1U);

  AxiMemory::Options late;
  late.min_latency = late.max_latency = 300;
  bench.memory.set_options(late);
  bench.read(0x100, 16);
  bench.writes.push_back({0x205, ~0ULL, {}});
  bench.clocks.run(300);
  bench.soft_reset();
  bench.clocks.run(2000);
  EXPECT_EQ(bench.memory.waiting(), 0U);
  EXPECT_EQ(bench.read_errors, 1U);
  EXPECT_EQ(bench.write_errors, 1U);
}

TEST(BankPort, ReportsABeatThatNothingAskedFor) {
  BankPortBench bench(3333, 3336, {}, 32);
  bench.read(0x100, 16);
  ASSERT_TRUE(bench.clocks.run_until([&] { return bench.idle(); }, 20000));
  EXPECT_EQ(bench.read_errors, 0U);
  bench.ready_percent = 0;
  bench.memory.answer_unasked(bench.port.epoch_i - 1U);  // an answer of the epoch before
  bench.clocks.run(100);
  EXPECT_EQ(bench.read_errors, 0U);
  bench.memory.answer_unasked(bench.port.epoch_i);
  bench.clocks.run(100);
  EXPECT_EQ(bench.read_errors, 1U);
}

TEST(BankPort, HoldsBackAt128UnansweredWrites) {
  AxiMemory::Options mute;
  mute.min_latency = mute.max_latency = 100000;
  BankPortBench bench(3333, 3336, mute, 31);
  for (std::uint32_t index = 0; index < 300; ++index) bench.writes.push_back({index, ~0ULL, {}});
  bench.clocks.run(4000);
  EXPECT_EQ(bench.writes.size(), 300U - 128U);
  EXPECT_TRUE(bench.port.pending_o);
}

}  // namespace
}  // namespace logos
