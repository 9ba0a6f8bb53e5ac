#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "Vheads_bench_model.h"
#include "rtl/lowering/instruction.h"
#include "tests/rtl/vector_model.h"

namespace logos {

/// The heads unit with its memories, a vector memory, and the banks behind the cache writer.
class HeadsHarness {
 public:
  static constexpr std::uint32_t kRows = 8;
  using Beat = std::array<std::uint8_t, 64>;

  explicit HeadsHarness(std::uint32_t seed) : vectors(8192, seed), random_(seed) { reset(); }

  void reset() {
    top_.rst_ni = 0;
    top_.start_valid_i = 0;
    top_.vm_data_valid_i = 0;
    top_.cache_pending_i = 0;
    top_.gain_write_valid_i = 0;
    top_.rotary_write_valid_i = 0;
    top_.query_read_valid_i = 0;
    top_.query_read_exponent_valid_i = 0;
    clock();
    clock();
    top_.rst_ni = 1;
    vectors.forget();
    unanswered_.clear();
    cache_asked_ = false;
  }

  void set_rates(unsigned read, unsigned write, unsigned cache) {
    vectors.set_rates(read, write);
    cache_percent_ = cache;
  }

  void set_position(std::uint32_t row, std::uint32_t position) { top_.positions_i[row] = position; }
  void set_product(std::uint32_t ended, std::uint32_t quads) {
    top_.product_ended_i = static_cast<std::uint8_t>(ended);
    top_.product_progress_quads_i = quads;
  }
  void put_gain(std::uint32_t address, std::span<const std::uint32_t, 32> word) {
    top_.gain_write_valid_i = 1;
    top_.gain_write_address_i = static_cast<std::uint16_t>(address);
    std::memcpy(&top_.gain_write_data_i[0], word.data(), 128);
    clock();
    top_.gain_write_valid_i = 0;
  }
  void put_rotary(std::uint32_t address, std::span<const std::uint32_t, 64> word) {
    top_.rotary_write_valid_i = 1;
    top_.rotary_write_address_i = static_cast<std::uint8_t>(address);
    std::memcpy(&top_.rotary_write_data_i[0], word.data(), 256);
    clock();
    top_.rotary_write_valid_i = 0;
  }
  std::array<std::int16_t, 32> query(std::uint32_t address) {
    top_.query_read_valid_i = 1;
    top_.query_read_address_i = static_cast<std::uint16_t>(address);
    clock();
    top_.query_read_valid_i = 0;
    clock();
    std::array<std::int16_t, 32> word;
    std::memcpy(word.data(), &top_.query_read_data_o[0], sizeof(word));
    return word;
  }
  std::int8_t query_exponent(std::uint32_t address) {
    top_.query_read_exponent_valid_i = 1;
    top_.query_read_exponent_address_i = static_cast<std::uint16_t>(address);
    clock();
    top_.query_read_exponent_valid_i = 0;
    clock();
    return static_cast<std::int8_t>(top_.query_read_exponent_o);
  }

  /// Runs one instruction to its end; cycles from the one after the start to done_o. `each_cycle`
  /// runs before every cycle.
  int run(const d5005::Instruction& instruction, std::uint32_t pass, int give_up_after = -1,
          const std::function<void(int)>& each_cycle = {}) {
    faults.clear();
    cache.clear();
    query_writes = 0;
    put_instruction(instruction, top_.instruction_i);
    top_.pass_i = pass;
    top_.start_valid_i = 1;
    top_.eval();
    EXPECT_TRUE(top_.start_ready_o);
    clock();
    top_.start_valid_i = 0;
    for (auto& word : top_.instruction_i.m_storage) word = static_cast<std::uint32_t>(random_());
    top_.pass_i = static_cast<std::uint32_t>(random_()) & 0x7FFFFFF;
    for (int cycles = 1; cycles < 200000; ++cycles) {
      if (cycles == give_up_after) return cycles;
      if (each_cycle) each_cycle(cycles);
      if (step() || testing::Test::HasFatalFailure()) return cycles;
    }
    ADD_FAILURE() << "the heads unit never ended";
    return 0;
  }

  VectorModel vectors;
  std::map<std::pair<unsigned, std::uint32_t>, std::pair<Beat, std::uint64_t>>
      cache;  ///< {bank, address}: bytes, which of them were written
  std::vector<std::uint32_t> faults;
  int query_writes = 0;

 private:
  void clock() {
    top_.clk_i = 1;
    top_.eval();
    top_.clk_i = 0;
    top_.eval();
  }

  /// One cycle; true where done_o is high.
  bool step() {
    vectors.drive(top_);
    top_.cache_write_ready_i = random_() % 100 < cache_percent_;
    for (auto& cycles : unanswered_) --cycles;
    while (!unanswered_.empty() && unanswered_.front() <= 0) unanswered_.pop_front();
    top_.cache_pending_i = !unanswered_.empty();
    top_.eval();
    check_stalls();
    if (top_.fault_o) faults.push_back(top_.fault_line_o);
    query_writes += top_.query_write_valid_o;
    take_cache_write();
    EXPECT_TRUE(top_.busy_o);
    const bool done = top_.done_o;
    if (done) {
      EXPECT_TRUE(unanswered_.empty()) << "ended before the banks answered";
      EXPECT_FALSE(top_.cache_write_valid_o);
      EXPECT_FALSE(top_.vm_write_valid_o);
    }
    vectors.clock(top_);
    clock();
    return done;
  }

  /// It counts as stalled where it asks for what is not there, and at the output only then or while
  /// a bank owes an answer. (At the input it may also wait for the product, which is not seen
  /// here.)
  void check_stalls() {
    if (top_.vm_read_valid_o && !top_.vm_read_ready_i) {
      ASSERT_TRUE(top_.stalled_on_input_o);
    }
    const bool waits = (top_.vm_write_valid_o && !top_.vm_write_ready_i) ||
                       (top_.cache_write_valid_o && !top_.cache_write_ready_i);
    if (waits || !top_.cache_pending_i) {
      ASSERT_EQ(top_.stalled_on_output_o, waits);
    }
  }

  void take_cache_write() {
    Beat data;
    std::memcpy(data.data(), &top_.cache_write_data_o[0], sizeof(data));
    if (cache_asked_) {
      ASSERT_TRUE(top_.cache_write_valid_o) << "a cache write was withdrawn";
      ASSERT_EQ(top_.cache_write_address_o, cache_address_);
      ASSERT_EQ(data, cache_data_);
    }
    cache_asked_ = top_.cache_write_valid_o && !top_.cache_write_ready_i;
    cache_address_ = top_.cache_write_address_o;
    cache_data_ = data;
    if (!top_.cache_write_valid_o || !top_.cache_write_ready_i) return;
    auto& [bytes, written] = cache[{top_.cache_write_bank_o, top_.cache_write_address_o}];
    ASSERT_EQ(written & top_.cache_write_strobe_o, 0U) << "written twice";
    written |= top_.cache_write_strobe_o;
    for (std::size_t b = 0; b < 64; ++b) {
      if ((top_.cache_write_strobe_o >> b & 1) != 0) bytes[b] = data[b];
    }
    const int behind = unanswered_.empty() ? 0 : unanswered_.back();
    unanswered_.push_back(std::max(behind, 2 + static_cast<int>(random_() % 60)));
  }

  Vheads_bench_model top_;
  std::mt19937 random_;
  unsigned cache_percent_ = 100;
  std::deque<int> unanswered_;  ///< cycles to each write's answer, in order
  bool cache_asked_ = false;
  std::uint32_t cache_address_ = 0;
  Beat cache_data_{};
};

}  // namespace logos
