#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <utility>

#include "Vword_fifo_model.h"

namespace logos {
namespace {

constexpr std::size_t kDepth = 8;  ///< of the model; one more word stands at the output

/// Drives both ends at random for some cycles and compares with a deque. Returns the cycles in
/// which a word was offered to a full queue.
int run_against_a_deque(unsigned write_percent, unsigned read_percent, std::uint32_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  Vword_fifo_model fifo;
  const auto clock = [&] {
    fifo.clk_i = 1;
    fifo.eval();
    fifo.clk_i = 0;
    fifo.eval();
  };
  fifo.eval();
  fifo.rst_ni = 0;
  clock();
  fifo.rst_ni = 1;
  std::deque<std::pair<std::uint64_t, unsigned>> expected;
  int passed = 0;
  int refused = 0;
  for (int cycle = 0; cycle < 4000; ++cycle) {
    if (!fifo.valid_i) {  // the law: what is offered stays until it is taken
      fifo.valid_i = random() % 100 < write_percent;
      fifo.data_i = (std::uint64_t{random()} << 8 | (random() & 0xFF)) & 0xFFFFFFFFFF;
      fifo.tag_i = random() & 7;
    }
    fifo.ready_i = random() % 100 < read_percent;
    fifo.eval();
    EXPECT_EQ(fifo.ready_o == 0, expected.size() == kDepth + 1);
    if (fifo.valid_o && expected.empty()) {
      ADD_FAILURE() << "a word that nobody wrote";
      return refused;
    }
    if (fifo.valid_o) {
      EXPECT_EQ(fifo.data_o, expected.front().first) << "cycle " << cycle;
      EXPECT_EQ(fifo.tag_o, expected.front().second) << "cycle " << cycle;
    }
    const bool written = fifo.valid_i && fifo.ready_o;
    refused += fifo.valid_i && !fifo.ready_o;
    if (fifo.valid_o && fifo.ready_i) {
      expected.pop_front();
      ++passed;
    }
    if (written) expected.emplace_back(fifo.data_i, fifo.tag_i);
    clock();
    if (written) fifo.valid_i = 0;
  }
  EXPECT_GT(passed, 100);
  return refused;
}

TEST(WordFifo, KeepsOrderAtAnyRateAndLosesNothingWhereItIsFull) {
  run_against_a_deque(100, 100, 1);
  run_against_a_deque(20, 90, 2);
  run_against_a_deque(50, 50, 3);
  EXPECT_GT(run_against_a_deque(100, 20, 4), 1000);
}

}  // namespace
}  // namespace logos
