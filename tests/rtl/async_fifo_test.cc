#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

#include "Vasync_fifo_model.h"
#include "tests/rtl/clocks.h"

namespace logos {
namespace {

constexpr std::uint64_t kDepth = 16;

/// Both ends driven at random, compared with a deque.
class AsyncFifoBench {
 public:
  AsyncFifoBench(std::uint64_t write_ps, std::uint64_t read_ps, unsigned write_percent,
                 unsigned read_percent, std::uint32_t seed)
      : random_(seed), write_percent_(write_percent), read_percent_(read_percent) {
    clocks_.add(
        write_ps, seed % 977, [this](bool level) { fifo_.write_clk_i = level; },
        [this] { sample_write(); }, [this] { drive_write(); });
    clocks_.add(
        read_ps, seed % 1009, [this](bool level) { fifo_.read_clk_i = level; },
        [this] { sample_read(); }, [this] { drive_read(); });
    reset();
  }

  void reset() {
    fifo_.write_rst_ni = fifo_.read_rst_ni = 0;
    run(40);
    expected_.clear();
    fifo_.write_rst_ni = 1;  // one side first
    run(3);
    fifo_.read_rst_ni = 1;
  }

  void run(int edges) { clocks_.run(static_cast<std::uint64_t>(edges)); }
  void set_percents(unsigned write, unsigned read) {
    write_percent_ = write;
    read_percent_ = read;
  }
  std::uint64_t passed() const { return passed_; }
  std::size_t held() const { return expected_.size(); }
  std::uint64_t read_cycles() const { return clocks_.cycles(1); }

 private:
  void sample_write() {
    if (fifo_.write_rst_ni && fifo_.valid_i && fifo_.ready_o) {
      expected_.push_back(fifo_.data_i);
      taken_ = true;
    }
  }
  void drive_write() {
    if (!fifo_.write_rst_ni) fifo_.valid_i = 0;
    if (taken_ || !fifo_.valid_i) {
      fifo_.valid_i = fifo_.write_rst_ni && random_() % 100 < write_percent_;
      fifo_.data_i = (std::uint64_t{random_()} << 8 | (random_() & 0xFF)) & 0xFFFFFFFFFF;
      taken_ = false;
    }
  }
  void sample_read() {
    if (!fifo_.read_rst_ni) {
      held_data_valid_ = false;
      return;
    }
    if (held_data_valid_) {  // the law
      EXPECT_TRUE(fifo_.valid_o);
      EXPECT_EQ(fifo_.data_o, held_data_);
    }
    held_data_valid_ = fifo_.valid_o && !fifo_.ready_i;
    held_data_ = fifo_.data_o;
    if (!fifo_.valid_o || !fifo_.ready_i) return;
    ASSERT_FALSE(expected_.empty());
    ASSERT_EQ(fifo_.data_o, expected_.front());
    expected_.pop_front();
    ++passed_;
  }
  void drive_read() { fifo_.ready_i = random_() % 100 < read_percent_; }

  Vasync_fifo_model fifo_;
  Clocks clocks_{[this] { fifo_.eval(); }};
  std::mt19937 random_;
  unsigned write_percent_;
  unsigned read_percent_;
  std::deque<std::uint64_t> expected_;
  std::uint64_t passed_ = 0;
  std::uint64_t held_data_ = 0;
  bool held_data_valid_ = false;
  bool taken_ = false;
};

TEST(AsyncFifo, KeepsOrderAtAnyClocksAndRates) {
  const std::pair<std::uint64_t, std::uint64_t> periods[] = {
      {3333, 3336}, {3336, 3333}, {4000, 3333}, {3333, 4000},
      {1000, 9700}, {9700, 1000}, {5000, 5000}};
  const std::pair<unsigned, unsigned> percents[] = {{100, 100}, {90, 20}, {20, 90}, {50, 50}};
  std::uint32_t seed = 1;
  for (const auto& [write_ps, read_ps] : periods) {
    for (const auto& [write_percent, read_percent] : percents) {
      SCOPED_TRACE(testing::Message() << write_ps << ' ' << read_ps << " seed " << seed);
      AsyncFifoBench bench(write_ps, read_ps, write_percent, read_percent, seed++);
      bench.run(5000);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
      EXPECT_GT(bench.passed(), 50U);
      bench.set_percents(0, 100);
      bench.run(1000);
      EXPECT_EQ(bench.held(), 0U);
    }
  }
}

TEST(AsyncFifo, PassesAWordACycleOfLikeClocks) {
  AsyncFifoBench bench(3333, 3336, 100, 100, 5);
  bench.run(4000);
  EXPECT_GT(bench.passed(), bench.read_cycles() - 40);
}

TEST(AsyncFifo, HoldsItsDepthAndTheOutputRegister) {
  AsyncFifoBench bench(4000, 3333, 100, 0, 6);
  bench.run(500);
  EXPECT_EQ(bench.held(), kDepth + 1);
}

TEST(AsyncFifo, ResetEmptiesIt) {
  AsyncFifoBench bench(3333, 4000, 80, 10, 7);
  bench.run(500);
  EXPECT_GT(bench.held(), 0U);
  bench.reset();
  bench.set_percents(50, 50);
  bench.run(2000);
  EXPECT_GT(bench.passed(), 100U);
}

}  // namespace
}  // namespace logos
