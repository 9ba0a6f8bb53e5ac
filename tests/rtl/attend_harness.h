#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "Vattend_unit_model.h"
#include "tests/rtl/attend_case.h"
#include "tests/rtl/vector_model.h"

namespace logos {

/// The attend unit between a stream, a query memory (data two cycles after the read) and a vector
/// memory whose write port is granted at random. What is idle carries garbage.
class AttendHarness {
 public:
  static constexpr std::int64_t kRows = 8;
  static constexpr std::size_t kWords = 8192;

  explicit AttendHarness(std::uint32_t seed) : vectors(kWords), random_(seed) {
    for (auto& word : vectors) {
      for (auto& lane : word) lane = static_cast<std::uint32_t>(random_());
    }
    reset();
  }

  /// Whatever is under way ends; beats that wait are lost.
  void reset() {
    top_.rst_ni = 0;
    top_.start_valid_i = 0;
    top_.stream_valid_i = 0;
    top_.observe_valid_i = 0;
    beats_.clear();
    offered_ = false;
    has_taken_ = false;
    clock();
    clock();
    top_.rst_ni = 1;
  }

  void set_rates(unsigned stream, unsigned write) {
    stream_percent_ = stream;
    write_percent_ = write;
  }

  /// What the stream brings behind what waits already.
  void feed(const AttendCase& attend) {
    const auto beats = attend.stream();
    beats_.insert(beats_.end(), beats.begin(), beats.end());
  }

  /// Super-beats that were fed and not taken.
  std::size_t waiting_beats() const { return beats_.size(); }

  /// Feeds the case and runs its instruction to its end: cycles from the start to done_o.
  std::int64_t run(const AttendCase& attend) {
    feed(attend);
    const std::int64_t cycles = run_fed(attend);
    EXPECT_TRUE(beats_.empty()) << beats_.size() << " super-beats were not taken";
    return cycles;
  }

  std::int64_t run_fed(const AttendCase& attend, std::int64_t give_up_after = 8000000) {
    case_ = &attend;
    start(attend);
    for (std::int64_t cycles = 1; cycles < give_up_after; ++cycles) {
      const bool done = step();
      if (testing::Test::HasFatalFailure()) return cycles;
      if (done) {
        top_.eval();
        EXPECT_FALSE(top_.busy_o);
        return cycles;
      }
    }
    EXPECT_LT(give_up_after, 8000000) << "the attend unit never ended";
    return give_up_after;
  }

  std::uint32_t peak(std::int64_t row) const {
    std::uint32_t peak = 0;
    for (std::uint32_t bit = 0; bit < 31; ++bit) {
      const std::uint32_t at = static_cast<std::uint32_t>(row) * 31 + bit;
      peak |= (top_.peaks_o[at / 32] >> at % 32 & 1) << bit;
    }
    return peak;
  }

  struct Observed {
    std::array<std::uint32_t, 4> quad;
    std::int64_t sum;
  };

  /// Positions 4 * slot .. + 3 of a head of the last pair, and the head's L.
  Observed observe(std::int64_t head, std::int64_t slot) {
    top_.observe_valid_i = 1;
    top_.observe_head_i = static_cast<std::uint8_t>(head);
    top_.observe_slot_i = static_cast<std::uint16_t>(slot);
    clock();
    top_.observe_valid_i = 0;
    top_.observe_head_i = static_cast<std::uint8_t>(random_() & 15);
    clock();
    Observed observed{};
    std::memcpy(observed.quad.data(), &top_.observe_data_o[0], 16);
    observed.sum = static_cast<std::int64_t>(top_.observe_sum_o);
    return observed;
  }

  std::vector<std::array<std::uint32_t, 32>> vectors;  ///< vector memory

 private:
  void clock() {
    top_.clk_i = 1;
    top_.eval();
    top_.clk_i = 0;
    top_.eval();
  }

  std::uint32_t noise() { return static_cast<std::uint32_t>(random_()); }

  void start(const AttendCase& attend) {
    put_instruction(attend.instruction(), top_.instruction_i);
    top_.pass_i = pass_bits(static_cast<std::uint32_t>(attend.shape().positions.size()), 1000,
                            static_cast<std::uint32_t>(attend.shape().pass_row));
    for (std::size_t r = 0; r < attend.row_positions().size(); ++r) {
      top_.positions_i[r] = attend.row_positions()[r];
    }
    top_.start_valid_i = 1;
    top_.eval();
    ASSERT_TRUE(top_.start_ready_o);
    ASSERT_FALSE(top_.busy_o);
    clock();
    top_.start_valid_i = 0;
    for (auto& word : top_.instruction_i.m_storage) word = noise();
    top_.pass_i = noise() & 0x7FFFFFF;
  }

  /// One cycle; true where done_o is high.
  bool step() {
    if (!top_.stream_valid_i) {
      top_.stream_valid_i =
          !beats_.empty() && (stream_percent_ == 100 || random_() % 100 < stream_percent_);
      if (top_.stream_valid_i) {
        std::memcpy(&top_.stream_data_i[0], beats_.front().data(), sizeof(SuperBeat));
      } else {
        top_.stream_data_i[noise() % 64] = noise();
      }
    }
    top_.vm_write_ready_i = write_percent_ == 100 || random_() % 100 < write_percent_;
    top_.eval();
    EXPECT_TRUE(top_.busy_o);
    EXPECT_FALSE(top_.fault_o);
    check_stalls();
    const bool taken = top_.stream_valid_i && top_.stream_ready_o;
    has_taken_ = taken;
    check_write();
    write();
    read_queries();
    const bool done = top_.done_o;
    clock();
    if (taken) {
      beats_.pop_front();
      top_.stream_valid_i = 0;
    }
    return done;
  }

  /// It counts as stalled in no cycle after it took a super-beat, nor while it has no room for one,
  /// and at the output exactly while it waits to write.
  void check_stalls() {
    if (has_taken_ || !top_.stream_ready_o) {
      EXPECT_FALSE(top_.stalled_on_input_o);
    }
    EXPECT_EQ(top_.stalled_on_output_o, top_.vm_write_valid_o && !top_.vm_write_ready_i);
  }

  /// The stream law: what is offered stays until it is taken.
  void check_write() {
    if (offered_) {
      ASSERT_TRUE(top_.vm_write_valid_o);
      ASSERT_EQ(top_.vm_write_address_o, offered_address_);
      ASSERT_EQ(std::memcmp(&top_.vm_write_data_o[0], offered_data_.data(), 128), 0);
    }
    offered_ = top_.vm_write_valid_o && !top_.vm_write_ready_i;
    offered_address_ = top_.vm_write_address_o;
    std::memcpy(offered_data_.data(), &top_.vm_write_data_o[0], 128);
  }

  void write() {
    if (!top_.vm_write_valid_o || !top_.vm_write_ready_i) return;
    ASSERT_LT(top_.vm_write_address_o, kWords);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (top_.vm_write_slices_o >> (lane / 4) & 1) {
        vectors[top_.vm_write_address_o][lane] = top_.vm_write_data_o[lane];
      }
    }
  }

  void read_queries() {
    // What was asked two cycles ago comes in the cycle that begins now, for this cycle alone.
    for (std::size_t i = 0; i < 16; ++i) top_.query_data_i[i] = 0xBADBAD00 + noise() % 256;
    top_.query_exponent_i = static_cast<std::uint8_t>(noise() & 0xFF);
    if (word_asked_[1] >= 0) {
      const auto& word = case_->query_words().at(static_cast<std::size_t>(word_asked_[1]));
      std::memcpy(&top_.query_data_i[0], word.data(), sizeof(word));
    }
    if (exponent_asked_[1] >= 0) {
      top_.query_exponent_i = static_cast<std::uint8_t>(
          case_->query_exponents().at(static_cast<std::size_t>(exponent_asked_[1])));
    }
    word_asked_ = {top_.query_valid_o ? top_.query_address_o : -1, word_asked_[0]};
    exponent_asked_ = {top_.query_exponent_valid_o ? top_.query_exponent_address_o : -1,
                       exponent_asked_[0]};
  }

  Vattend_unit_model top_;
  std::mt19937 random_;
  unsigned stream_percent_ = 100;
  unsigned write_percent_ = 100;
  const AttendCase* case_ = nullptr;
  std::deque<SuperBeat> beats_;
  std::array<std::int32_t, 2> word_asked_{-1, -1};
  std::array<std::int32_t, 2> exponent_asked_{-1, -1};
  bool has_taken_ = false;  ///< a super-beat in the last cycle
  bool offered_ = false;
  std::uint16_t offered_address_ = 0;
  std::array<std::uint8_t, 128> offered_data_{};
};

}  // namespace logos
