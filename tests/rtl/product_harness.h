#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/rtl/product_case.h"

namespace logos {

/// How often the ports around the unit are ready, in percent of the cycles.
struct ProductRates {
  unsigned stream = 100;
  unsigned read = 100;
  unsigned write = 100;
  unsigned start = 100;
};

/// The product unit with activation memory: runs the jobs of a case one behind the other and judges
/// every word of vector memory, the progress, the peaks and the ends.
template <class Top>
class ProductHarness {
 public:
  explicit ProductHarness(std::uint32_t seed) : vectors_(8192, seed), random_(seed ^ 0x5EED) {
    reset();
  }

  void reset() {
    top_->rst_ni = 0;
    top_->start_valid_i = 0;
    top_->stream_valid_i = 0;
    top_->vm_data_valid_i = 0;
    top_->write_valid_i = 0;
    top_->store_read_valid_i = 0;
    top_->rows_ended_i = 0;
    top_->quantized_words_i = 0;
    clock();
    clock();
    top_->rst_ni = 1;
    vectors_.forget();
    jobs_ = {};
    ended_ = 0;
    progress_ = 0;
  }

  /// Cycles from the first super-beat taken to the last one, both counted.
  std::uint64_t stream_cycles() const { return last_taken_ - first_taken_ + 1; }
  /// Cycles from the last super-beat to the last done_o.
  std::uint64_t tail_cycles() const { return last_done_ - last_taken_; }
  std::uint64_t beats() const { return taken_; }
  std::uint64_t stalled_on_input() const { return stalled_on_input_; }
  std::uint64_t stalled_on_output() const { return stalled_on_output_; }
  VectorModel& vectors() { return vectors_; }

  void write_activations(const Activations& activations) {
    for (int word = 0; word < activations.words(); ++word) write_word(activations, word);
    write_exponents(activations);
  }

  /// Offers the jobs at these rates until all have ended. With chain the activations come
  /// meanwhile, and the first job must wait for them. `give_up_after`: stops after so many cycles.
  void run(ProductCase& product_case, const ProductRates& rates, bool chain = false,
           std::uint64_t give_up_after = ~0ull) {
    jobs_ = std::span(product_case.jobs());
    activations_ = &product_case.activations();
    rates_ = rates;
    vectors_.set_rates(rates.read, rates.write);
    cycle_ = first_taken_ = last_taken_ = last_done_ = taken_ = started_ = ended_ = 0;
    stalled_on_input_ = stalled_on_output_ = 0;
    stream_job_ = stream_beat_ = 0;
    progress_ = 0;
    next_word_ = 0;
    chain_ = chain;
    for (const ProductJob& job : jobs_) fill_source(job);
    before_ = std::make_unique<VectorModel>(vectors_);
    expect_job();
    if (chain) {
      top_->rows_ended_i = 0;
      write_exponents(*activations_);
      for (ProductJob& job : product_case.jobs()) {
        job.instruction.chain = 1;
        job.instruction.need[0] = 1;
      }
    } else {
      write_activations(*activations_);
    }
    while (ended_ < jobs_.size() && cycle_ < give_up_after) {
      step();
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_LT(cycle_, 4000000u) << "the product unit never ended";
    }
    if (cycle_ >= give_up_after) return;
    EXPECT_EQ(stream_job_, jobs_.size()) << "super-beats were not taken";
    for (int i = 0; i < 50; ++i) step();  // nothing comes afterwards
    EXPECT_EQ(top_->busy_o, 0);
  }

  /// The word of a row as the observer reads it.
  std::vector<std::int16_t> read_activations(std::uint32_t row, std::uint32_t word) {
    top_->store_read_valid_i = 1;
    top_->store_read_row_i = static_cast<std::uint8_t>(row);
    top_->store_read_word_i = static_cast<std::uint16_t>(word);
    top_->eval();
    EXPECT_EQ(top_->store_read_ready_o, 1);
    clock();
    top_->store_read_valid_i = 0;
    int cycles = 1;
    while (!top_->store_data_valid_o && cycles < 10) {
      clock();
      ++cycles;
    }
    EXPECT_EQ(cycles, 3);
    std::vector<std::int16_t> q(64);
    std::memcpy(q.data(), &top_->store_data_o[0], 128);
    return q;
  }

 private:
  void clock() {
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
    ++cycle_;
  }

  /// Residual streams hold numbers, also such that vanish (section 7), not just any bits.
  void fill_source(const ProductJob& job) {
    if (job.instruction.variant != static_cast<std::uint32_t>(d5005::Post::kResidual)) return;
    for (std::uint32_t row = 0; row < job.rows; ++row) {
      for (std::uint32_t n = 0; n < job.instruction.columns; ++n) {
        vectors_.put(job.instruction.source + row * job.instruction.source_stride, n,
                     std::bit_cast<std::uint32_t>(random_float(random_, -70, 12)));
      }
    }
  }

  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void write_half(const Activations& activations, std::uint32_t row, int word, int half) {
    top_->write_valid_i = 1;
    top_->write_row_i = static_cast<std::uint8_t>(row);
    top_->write_word_i = static_cast<std::uint16_t>(word);
    top_->write_half_i = static_cast<std::uint8_t>(half);
    std::memcpy(&top_->write_data_i[0],
                &activations.q[row][static_cast<std::size_t>(64 * word + 32 * half)], 64);
  }

  void write_word(const Activations& activations, int word) {
    for (std::uint32_t row = 0; row < activations.q.size(); ++row) {
      for (int half = 0; half < 2; ++half) {
        write_half(activations, row, word, half);
        clock();
      }
    }
    top_->write_valid_i = 0;
  }

  void write_exponents(const Activations& activations) {
    std::array<std::uint8_t, 32> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    std::memcpy(bytes.data(), activations.exponents.data(), activations.exponents.size());
    std::memcpy(&top_->exponents_i[0], bytes.data(), bytes.size());
  }

  /// One half a cycle of the next word; its count rises in the cycle after all rows have it.
  void quantize() {
    top_->write_valid_i = 0;
    if (top_->rows_ended_i != 0) return;
    const auto halves = static_cast<int>(2 * activations_->q.size());
    if (next_word_ == halves * activations_->words()) {
      // The count is 0 from the end on; the dispatcher counts a cycle later.
      if (top_->quantized_words_i == 0) top_->rows_ended_i = 1;
      top_->quantized_words_i = 0;
      return;
    }
    if (chance(30)) return;
    const int piece = next_word_ % halves;
    write_half(*activations_, static_cast<std::uint32_t>(piece / 2), next_word_ / halves,
               piece % 2);
    ++next_word_;
    top_->quantized_words_i = static_cast<std::uint16_t>((next_word_ - 1) / halves);
  }

  void offer_start() {
    if (top_->start_valid_i == 0) {
      top_->start_valid_i = started_ < jobs_.size() && chance(rates_.start);
      if (top_->start_valid_i != 0) {
        put_instruction(jobs_[started_].instruction, top_->instruction_i);
        top_->pass_i = pass_bits(jobs_[started_].rows, random_() & 0xFFFF);
      } else {
        top_->instruction_i[random_() % 16] = static_cast<std::uint32_t>(random_());
      }
    }
  }

  void offer_beat() {
    if (top_->stream_valid_i != 0) return;
    top_->stream_valid_i = stream_job_ < jobs_.size() && chance(rates_.stream);
    if (top_->stream_valid_i != 0) {
      std::memcpy(&top_->stream_data_i[0], jobs_[stream_job_].stream[stream_beat_].data(), 256);
    } else {
      top_->stream_data_i[random_() % 64] = static_cast<std::uint32_t>(random_());
    }
  }

  void step() {
    if (chain_) quantize();
    offer_start();
    offer_beat();
    vectors_.drive(*top_);
    top_->eval();
    stalled_on_input_ += top_->stalled_on_input_o;
    stalled_on_output_ += top_->stalled_on_output_o;
    ASSERT_FALSE(top_->stalled_on_input_o && top_->stalled_on_output_o);
    check_progress();
    const bool started = top_->start_valid_i && top_->start_ready_o;
    const bool taken = top_->stream_valid_i && top_->stream_ready_o;
    if (taken) {
      ASSERT_LT(stream_job_, started_) << "a super-beat was taken before its start";
      if (taken_++ == 0) first_taken_ = cycle_;
      last_taken_ = cycle_;
      if (++stream_beat_ == jobs_[stream_job_].stream.size()) {
        ++stream_job_;
        stream_beat_ = 0;
      }
    }
    if (started) ++started_;
    const bool done = top_->done_o;
    vectors_.clock(*top_);
    clock();
    if (started) top_->start_valid_i = 0;
    if (taken) top_->stream_valid_i = 0;
    if (done) check_end();
  }

  /// What the job that drains must have written.
  void expect_job() {
    expected_.clear();
    if (ended_ == jobs_.size()) return;
    const ProductJob& job = jobs_[ended_];
    for (std::uint32_t row = 0; row < job.rows; ++row) {
      for (int quad = 0; quad < written_quads(job); ++quad) {
        expected_.push_back(expected_quad(job, *activations_, *before_, row, quad));
      }
    }
  }

  const std::vector<std::uint32_t>& expected(std::uint32_t row, int quad) const {
    return expected_[row * static_cast<std::size_t>(written_quads(jobs_[ended_])) +
                     static_cast<std::size_t>(quad)];
  }

  void check_quad(std::uint32_t row, int quad) {
    const d5005::Instruction& at = jobs_[ended_].instruction;
    const auto& lanes = expected(row, quad);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const std::uint32_t got = vectors_.bits(at.destination + row * at.destination_stride,
                                              static_cast<std::size_t>(quad) * lanes.size() + lane);
      ASSERT_EQ(got, lanes[lane]) << fmt::format(
          "job {} row {} quad {} lane {}: got {:08x}, want {:08x}", ended_, row, quad, lane, got,
          lanes[lane]);
    }
  }

  /// Progress counts quads that are there, of all rows.
  void check_progress() {
    const std::uint32_t progress = top_->progress_quads_o;
    if (progress == 0 || ended_ == jobs_.size()) {
      progress_ = progress;
      return;
    }
    ASSERT_GE(progress, progress_);
    ASSERT_LE(static_cast<int>(progress), written_quads(jobs_[ended_]));
    for (; progress_ < progress; ++progress_) {
      for (std::uint32_t row = 0; row < jobs_[ended_].rows; ++row) {
        check_quad(row, static_cast<int>(progress_));
      }
    }
  }

  /// All of the job's words, the peaks, and nothing else.
  void check_end() {
    ASSERT_LT(ended_, jobs_.size()) << "an end that nobody waits for";
    const ProductJob& job = jobs_[ended_];
    const d5005::Instruction& at = job.instruction;
    const int quads = written_quads(job);
    for (std::uint32_t row = 0; row < job.rows; ++row) {
      std::uint32_t peak = 0;
      const std::size_t base = at.destination + row * at.destination_stride;
      const std::size_t size = expected(row, 0).size();
      const std::size_t lanes = static_cast<std::size_t>(quads) * size;
      for (int quad = 0; quad < quads; ++quad) {
        for (const std::uint32_t lane : expected(row, quad)) {
          peak = std::max(peak, lane & 0x7FFFFFFF);
        }
      }
      for (std::size_t lane = 0; lane < (lanes + 31) / 32 * 32; ++lane) {
        const std::uint32_t want =
            lane < lanes ? expected(row, static_cast<int>(lane / size))[lane % size] : 0;
        before_->put(base, lane, want);
      }
      if (at.track != 0) {
        ASSERT_EQ(peak_of(row), peak) << "peak of row " << row;
      }
    }
    for (std::size_t word = 0; word < 8192; ++word) {
      if (vectors_.word(word) == before_->word(word)) continue;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(vectors_.word(word)[lane], before_->word(word)[lane])
            << fmt::format("job {} word {} lane {}: got {:08x}, want {:08x}", ended_, word, lane,
                           vectors_.word(word)[lane], before_->word(word)[lane]);
      }
    }
    ++ended_;
    last_done_ = cycle_;
    expect_job();
  }

  std::uint32_t peak_of(std::uint32_t row) const {
    std::uint32_t peak = 0;
    for (std::uint32_t bit = 0; bit < 31; ++bit) {
      const std::uint32_t at = row * 31 + bit;
      peak |= (top_->peaks_o[at / 32] >> at % 32 & 1) << bit;
    }
    return peak;
  }

  std::unique_ptr<Top> top_ = std::make_unique<Top>();
  VectorModel vectors_;
  std::unique_ptr<VectorModel> before_;
  std::mt19937 random_;
  ProductRates rates_;
  std::span<const ProductJob> jobs_;
  const Activations* activations_ = nullptr;
  std::vector<std::vector<std::uint32_t>> expected_;
  bool chain_ = false;
  int next_word_ = 0;
  std::size_t started_ = 0;
  std::size_t ended_ = 0;
  std::size_t stream_job_ = 0;
  std::size_t stream_beat_ = 0;
  std::uint32_t progress_ = 0;
  std::uint64_t cycle_ = 0;
  std::uint64_t first_taken_ = 0;
  std::uint64_t last_taken_ = 0;
  std::uint64_t last_done_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t stalled_on_input_ = 0;
  std::uint64_t stalled_on_output_ = 0;
};

}  // namespace logos
