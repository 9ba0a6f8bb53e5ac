#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "sim/ddr4/channel.h"

namespace logos::ddr4 {

/// Requests by seed that make a channel's constraints bind: a few rows of every bank, runs of
/// neighbours, phases of reads, of writes, of both and of neither.
class RandomTraffic {
 public:
  RandomTraffic(std::uint64_t seed, std::uint64_t memory_bytes)
      : random_(seed), lines_(memory_bytes / kLineBytes) {}

  /// What to offer in the next slot, if anything.
  std::optional<Request> next() {
    if (phase_left_-- == 0) new_phase();
    if (below(100) >= offered_percent_) return std::nullopt;
    if (below(100) < run_percent_) {
      line_ = (line_ + 1) % lines_;
    } else {
      // Few choices of high and of middle bits: many banks, few rows of each, whatever the order.
      line_ = (below(2) * (lines_ / 2) + below(4) * (lines_ / 16) + below(64) * 512 + below(64)) %
              lines_;
    }
    const Operation operation = below(100) < write_percent_ ? Operation::kWrite : Operation::kRead;
    return Request{operation, line_ * kLineBytes, id_++};
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t word() { return random_(); }

 private:
  void new_phase() {
    constexpr std::uint64_t kWrites[] = {0, 5, 50, 50, 95, 100};
    constexpr std::uint64_t kOffered[] = {100, 100, 100, 30, 3};
    constexpr std::uint64_t kRuns[] = {0, 50, 90};
    phase_left_ = 50 + below(1000);
    write_percent_ = kWrites[below(6)];
    offered_percent_ = kOffered[below(5)];
    run_percent_ = kRuns[below(3)];
  }

  std::mt19937_64 random_;
  std::uint64_t lines_;
  std::uint64_t line_ = 0;
  std::uint64_t id_ = 0;
  std::uint64_t phase_left_ = 0;
  std::uint64_t write_percent_ = 0, offered_percent_ = 0, run_percent_ = 0;
};

}  // namespace logos::ddr4
