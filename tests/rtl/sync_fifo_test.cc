#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

#include "Vsync_fifo_model.h"

namespace logos {
namespace {

/// Drives both ends at random for some cycles and compares with a deque.
void run_against_a_deque(unsigned write_percent, unsigned read_percent, std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::deque<std::uint64_t> expected;
  Vsync_fifo_model fifo;
  const auto clock = [&] {
    fifo.clk_i = 1;
    fifo.eval();
    fifo.clk_i = 0;
    fifo.eval();
  };
  fifo.rst_ni = 0;
  fifo.valid_i = 0;
  fifo.ready_i = 0;
  clock();
  fifo.rst_ni = 1;
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
    clock();
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

}  // namespace
}  // namespace logos
