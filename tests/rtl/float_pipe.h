#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace logos {

/// A small generator (splitmix64): millions of operands cost little beside the simulation.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
  /// Below `bound`.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * bound) >> 32);
  }
  /// From `low` to `high`, both included.
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint32_t>(high - low + 1)));
  }

 private:
  std::uint64_t state_;
};

/// The bits that a unit gives for a result: all NaNs are one.
inline std::uint32_t canonical_bits(float y) {
  const auto bits = std::bit_cast<std::uint32_t>(y);
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits;
}

/// Streams operands through a pipelined unit without back-pressure and compares each result and tag
/// with what is expected of it, in order, at a fixed latency. Cycles without an operand come at
/// random, with garbage at the inputs.
template <class Model>
class FloatPipe {
 public:
  explicit FloatPipe(std::uint64_t seed) : random_(seed) {
    model_->rst_ni = 0;
    model_->valid_i = 1;  // reset is the stronger one
    clock();
    model_->valid_i = 0;
    clock();
    model_->rst_ni = 1;
  }

  /// `set(model, a, b)` puts the operands to the ports.
  template <class Set>
  void offer(Set set, std::uint64_t a, std::uint64_t b, std::uint32_t expected) {
    while (random_.below(8) == 0) {
      set(*model_, random_.next(), random_.next());
      idle();
    }
    set(*model_, a, b);
    model_->valid_i = 1;
    model_->tag_i = static_cast<std::uint8_t>(random_.bits());
    waiting_[written_++ % kWaiting] = {a, b, cycle_, expected, model_->tag_i};
    ASSERT_LE(written_ - read_, kWaiting) << "results do not come";
    clock();
    check();
  }

  /// Lets everything come out, and then nothing more.
  void drain() {
    for (int i = 0; i < kWaiting; ++i) idle();
    EXPECT_EQ(read_, written_) << "results that did not come";
  }

  /// What is under way at a reset, at whatever stage, never comes out; then all goes on as ever.
  void reset_drops_what_is_under_way() {
    model_->valid_i = 1;
    for (int i = 0; i < kWaiting; ++i) clock();
    model_->valid_i = 0;
    model_->rst_ni = 0;
    clock();
    model_->rst_ni = 1;
    for (int i = 0; i < kWaiting; ++i) {
      ASSERT_EQ(model_->valid_o, 0);
      clock();
    }
  }

  std::uint64_t results() const { return read_; }
  /// Cycles from an operand to its result.
  std::uint64_t latency() const { return latency_; }
  bool failed() const { return errors_ != 0; }

 private:
  static constexpr int kWaiting = 512;

  struct Waiting {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t cycle = 0;
    std::uint32_t expected = 0;
    std::uint8_t tag = 0;
  };

  void clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
    ++cycle_;
  }

  void idle() {
    model_->valid_i = 0;
    model_->tag_i = static_cast<std::uint8_t>(random_.bits());
    clock();
    check();
  }

  void check() {
    if (!model_->valid_o) return;
    if (read_ == written_) {
      fail("a result that nobody asked for");
      return;
    }
    const Waiting& waiting = waiting_[read_++ % kWaiting];
    const std::uint64_t latency = cycle_ - waiting.cycle;
    if (latency_ == 0) latency_ = latency;
    const std::uint32_t got = result();
    if (got != waiting.expected || model_->tag_o != waiting.tag || latency != latency_) {
      fail(
          fmt::format("{:08x} {:08x}: got {:08x} tag {:02x} after {} cycles, want {:08x} tag "
                      "{:02x} after {}",
                      waiting.a, waiting.b, got, model_->tag_o, latency, waiting.expected,
                      waiting.tag, latency_));
    }
  }

  std::uint32_t result() const {
    if constexpr (requires { model_->q_o; }) {
      return model_->q_o;
    } else {
      return model_->y_o;
    }
  }

  void fail(const std::string& what) {
    if (++errors_ <= 10) ADD_FAILURE() << what;
  }

  std::unique_ptr<Model> model_ = std::make_unique<Model>();
  Random random_;
  std::vector<Waiting> waiting_ = std::vector<Waiting>(kWaiting);
  std::uint64_t cycle_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t latency_ = 0;
  int errors_ = 0;
};

}  // namespace logos
