#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace logos {

/// Several clocks of one model, of unlike periods. At a rising edge the things of that clock see
/// the model as it stood before (`sample`), the model takes the edge, and then they drive it
/// (`drive`).
class Clocks {
 public:
  explicit Clocks(std::function<void()> eval) : eval_(std::move(eval)) {}

  /// `set` writes the clock's pin. A period of 0 is a clock that stands still.
  void add(std::uint64_t period_ps, std::uint64_t phase_ps, std::function<void(bool)> set,
           std::function<void()> sample, std::function<void()> drive) {
    clocks_.push_back(
        {period_ps, phase_ps + 1, std::move(set), std::move(sample), std::move(drive)});
    clocks_.back().set(false);
  }

  void set_period(std::size_t clock, std::uint64_t period_ps) {
    clocks_[clock].period = period_ps;
    clocks_[clock].next = now_ + std::max<std::uint64_t>(period_ps, 1);
  }

  /// Goes to the next instant at which some clock rises.
  void step() {
    std::uint64_t at = UINT64_MAX;
    for (const Clock& clock : clocks_) {
      if (clock.period != 0) at = std::min(at, clock.next);
    }
    now_ = at;
    eval_();
    std::vector<Clock*> rising;
    for (Clock& clock : clocks_) {
      if (clock.period != 0 && clock.next == at) rising.push_back(&clock);
    }
    for (Clock* clock : rising) clock->sample();
    for (Clock* clock : rising) clock->set(true);
    eval_();
    for (Clock* clock : rising) {
      clock->set(false);
      clock->next += clock->period;
      ++clock->cycles;
      clock->drive();
    }
    eval_();
  }

  /// Until `done`, at most `limit` rising edges; whether it was done.
  bool run_until(const std::function<bool()>& done, std::uint64_t limit) {
    for (std::uint64_t edge = 0; edge < limit; ++edge) {
      if (done()) return true;
      step();
    }
    return done();
  }

  void run(std::uint64_t edges) {
    for (std::uint64_t edge = 0; edge < edges; ++edge) step();
  }

  std::uint64_t now_ps() const { return now_; }
  std::uint64_t cycles(std::size_t clock) const { return clocks_[clock].cycles; }

 private:
  struct Clock {
    std::uint64_t period;
    std::uint64_t next;
    std::function<void(bool)> set;
    std::function<void()> sample;
    std::function<void()> drive;
    std::uint64_t cycles = 0;
  };

  std::function<void()> eval_;
  std::vector<Clock> clocks_;
  std::uint64_t now_ = 0;
};

}  // namespace logos
