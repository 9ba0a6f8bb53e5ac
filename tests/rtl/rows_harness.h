#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "Vrows_bench_model.h"
#include "rtl/lowering/instruction.h"
#include "tests/rtl/vector_model.h"

namespace logos {

using SuperBeat = std::array<std::uint32_t, 64>;

/// The rows unit with gain and rotary memory, a vector memory and an activation memory.
class RowsHarness {
 public:
  static constexpr std::uint32_t kRows = 8;

  explicit RowsHarness(std::uint32_t seed) : vectors(8192, seed), random_(seed) {
    activations.assign(kRows * 512, {});
    reset();
  }

  void reset() {
    top_.rst_ni = 0;
    top_.start_valid_i = 0;
    top_.stream_valid_i = 0;
    top_.vm_data_valid_i = 0;
    top_.gain_read_valid_i = 0;
    top_.rotary_read_valid_i = 0;
    clock();
    clock();
    top_.rst_ni = 1;
    vectors.forget();
  }

  /// Percent of cycles in which reads are granted, writes are granted, super-beats are at hand.
  void set_rates(unsigned read, unsigned write, unsigned stream) {
    vectors.set_rates(read, write);
    stream_percent_ = stream;
  }

  /// Runs one instruction to its end; cycles from the one after the start to done_o.
  int run(const d5005::Instruction& instruction, std::uint32_t pass,
          std::span<const SuperBeat> stream, int give_up_after = -1) {
    beats_.assign(stream.begin(), stream.end());
    std::fill(written_halves_.begin(), written_halves_.end(), 0);
    faults.clear();
    start(instruction, pass);
    rows_ = pass & 63;
    for (int cycles = 1; cycles < 200000; ++cycles) {
      if (cycles == give_up_after) return cycles;
      const bool done = step();
      if (testing::Test::HasFatalFailure()) return cycles;
      if (done) {
        EXPECT_TRUE(beats_.empty()) << beats_.size() << " super-beats were not taken";
        return cycles;
      }
    }
    ADD_FAILURE() << "the rows unit never ended";
    return 0;
  }

  void set_peaks(d5005::Peaks set, std::uint32_t row, std::uint32_t peak) {
    auto* port =
        set == d5005::Peaks::kOfProduct ? &top_.product_peaks_i[0] : &top_.attend_peaks_i[0];
    for (std::uint32_t bit = 0; bit < 31; ++bit) {
      const std::uint32_t at = row * 31 + bit;
      port[at / 32] = (port[at / 32] & ~(1u << at % 32)) | (peak >> bit & 1) << at % 32;
    }
  }
  std::uint32_t peak(std::uint32_t row) const {
    std::uint32_t peak = 0;
    for (std::uint32_t bit = 0; bit < 31; ++bit) {
      const std::uint32_t at = row * 31 + bit;
      peak |= (top_.peaks_o[at / 32] >> at % 32 & 1) << bit;
    }
    return peak;
  }
  std::int8_t exponent(std::uint32_t row) const {
    return static_cast<std::int8_t>(top_.exponents_o >> (8 * row));
  }
  std::int16_t activation(std::uint32_t row, std::size_t column) const {
    return activations[row * 512 + column / 64][column % 64];
  }

  std::array<std::uint32_t, 32> gain(std::uint32_t address) {
    top_.gain_read_valid_i = 1;
    top_.gain_read_address_i = static_cast<std::uint16_t>(address);
    clock();
    top_.gain_read_valid_i = 0;
    clock();
    std::array<std::uint32_t, 32> word;
    std::memcpy(word.data(), &top_.gain_read_data_o[0], sizeof(word));
    return word;
  }
  SuperBeat rotary(std::uint32_t address) {
    top_.rotary_read_valid_i = 1;
    top_.rotary_read_address_i = static_cast<std::uint8_t>(address);
    clock();
    top_.rotary_read_valid_i = 0;
    clock();
    SuperBeat word;
    std::memcpy(word.data(), &top_.rotary_read_data_o[0], sizeof(word));
    return word;
  }

  VectorModel vectors;
  std::vector<std::array<std::int16_t, 64>> activations;  ///< [row * 512 + word][column]
  std::vector<std::uint32_t> faults;                      ///< lines that fault_o gave

 private:
  void clock() {
    top_.clk_i = 1;
    top_.eval();
    top_.clk_i = 0;
    top_.eval();
  }

  void start(const d5005::Instruction& instruction, std::uint32_t pass) {
    put_instruction(instruction, top_.instruction_i);
    top_.pass_i = pass;
    top_.start_valid_i = 1;
    top_.eval();
    ASSERT_TRUE(top_.start_ready_o);
    ASSERT_FALSE(top_.busy_o);
    clock();
    top_.start_valid_i = 0;
    for (auto& word : top_.instruction_i.m_storage) word = static_cast<std::uint32_t>(random_());
    top_.pass_i = static_cast<std::uint32_t>(random_()) & 0x7FFFFFF;
  }

  /// One cycle; true where done_o is high.
  bool step() {
    vectors.drive(top_);
    if (!top_.stream_valid_i) {
      top_.stream_valid_i = !beats_.empty() && random_() % 100 < stream_percent_;
      if (top_.stream_valid_i) {
        std::memcpy(&top_.stream_data_i[0], beats_.front().data(), sizeof(SuperBeat));
      } else {
        top_.stream_data_i[random_() % 64] = static_cast<std::uint32_t>(random_());
      }
    }
    top_.eval();
    check_stalls();
    check_words();
    if (testing::Test::HasFatalFailure()) return true;
    const bool taken = top_.stream_valid_i && top_.stream_ready_o;
    if (taken) beats_.pop_front();
    if (top_.activation_write_valid_o) write_activation();
    if (top_.fault_o) faults.push_back(top_.fault_line_o);
    const bool done = top_.done_o;
    EXPECT_TRUE(top_.busy_o);
    vectors.clock(top_);
    clock();
    if (taken) top_.stream_valid_i = 0;
    return done;
  }

  void write_activation() {
    ASSERT_LT(top_.activation_write_row_o, kRows);
    ASSERT_LT(top_.activation_write_word_o, 512);
    const std::size_t at = top_.activation_write_row_o * 512U + top_.activation_write_word_o;
    const unsigned half = top_.activation_write_half_o;
    std::memcpy(activations[at].data() + 32 * half, &top_.activation_write_data_o[0], 64);
    ASSERT_EQ(written_halves_[at] >> half & 1, 0) << "written twice";
    written_halves_[at] = static_cast<std::uint8_t>(written_halves_[at] | 1U << half);
  }

  /// It counts as stalled in the cycles in which it asks for what is not there, and in no other.
  void check_stalls() {
    const bool waits_for_beat = top_.stream_ready_o && !top_.stream_valid_i;
    const bool waits_for_read = top_.vm_read_valid_o && !top_.vm_read_ready_i;
    ASSERT_EQ(top_.stalled_on_input_o, waits_for_beat || waits_for_read);
    ASSERT_EQ(top_.stalled_on_output_o, top_.vm_write_valid_o && !top_.vm_write_ready_i);
  }

  /// quantized_words_o never runs ahead of what was written.
  void check_words() {
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::size_t w = 0; w < top_.quantized_words_o; ++w) {
        ASSERT_EQ(written_halves_[r * 512 + w], 3) << "row " << r << " word " << w;
      }
    }
  }

  Vrows_bench_model top_;
  std::mt19937 random_;
  unsigned stream_percent_ = 100;
  std::uint32_t rows_ = 0;
  std::deque<SuperBeat> beats_;
  std::vector<std::uint8_t> written_halves_ = std::vector<std::uint8_t>(kRows * 512);
};

}  // namespace logos
