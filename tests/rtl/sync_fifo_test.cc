#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

#include "Vsync_fifo_model.h"

namespace logos {
namespace {

class Fifo {
 public:
  Fifo() {
    model.eval();  // the first edge must find a level before it
    reset();
  }

  void clock() {
    model.clk_i = 1;
    model.eval();
    model.clk_i = 0;
    model.eval();
  }

  void reset() {
    model.rst_ni = 0;
    clock();
    model.rst_ni = 1;
    model.eval();
  }

  Vsync_fifo_model model;
};

/// Drives both ends at random for some cycles and compares with a deque.
void run_against_a_deque(unsigned write_percent, unsigned read_percent, std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::deque<std::uint64_t> expected;
  Fifo bench;
  Vsync_fifo_model& fifo = bench.model;
  std::uint64_t passed = 0;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    if (!fifo.valid_i) {  // the law: what is offered stays until it is taken
      fifo.valid_i = random() % 100 < write_percent;
      fifo.data_i = (std::uint64_t{random()} << 8 | (random() & 0xFF)) & 0xFFFFFFFFFF;
    }
    fifo.ready_i = random() % 100 < read_percent;
    fifo.eval();
    ASSERT_EQ(fifo.used_o, expected.size());
    ASSERT_EQ(fifo.ready_o, expected.size() < 8);
    ASSERT_EQ(fifo.valid_o, !expected.empty());
    if (fifo.valid_o) {
      ASSERT_EQ(fifo.data_o, expected.front());
    }
    const bool written = fifo.valid_i && fifo.ready_o;
    if (fifo.valid_o && fifo.ready_i) {
      expected.pop_front();
      ++passed;
    }
    if (written) expected.push_back(fifo.data_i);
    bench.clock();
    if (written) fifo.valid_i = 0;
  }
  EXPECT_GT(passed, 100U);
}

TEST(SyncFifo, KeepsOrderAtAnyRate) {
  run_against_a_deque(100, 100, 1);
  run_against_a_deque(90, 20, 2);
  run_against_a_deque(20, 90, 3);
  run_against_a_deque(50, 50, 4);
}

TEST(SyncFifo, AResetEmptiesIt) {
  Fifo bench;
  bench.model.valid_i = 1;
  for (unsigned words = 1; words <= 3; ++words) {
    bench.clock();
    EXPECT_EQ(bench.model.used_o, words);
  }
  bench.model.valid_i = 0;
  bench.model.ready_i = 1;
  bench.clock();
  EXPECT_EQ(bench.model.used_o, 2U);
  bench.reset();
  EXPECT_EQ(bench.model.used_o, 0U);
  EXPECT_FALSE(bench.model.valid_o);
  EXPECT_TRUE(bench.model.ready_o);
}

}  // namespace
}  // namespace logos
