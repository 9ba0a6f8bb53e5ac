#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace logos::d5005 {

/// The next rising edges of a board's clocks, in femtoseconds.
class Clocks {
 public:
  static constexpr int kEngine = 0;
  static constexpr int kBank = 1;  ///< and three behind
  static constexpr int kHost = 5;
  static constexpr int kCount = 6;

  Clocks(double engine_mhz, double bank_mhz, double host_mhz) {
    const auto period = [](double mhz) -> std::uint64_t { return std::llround(1e9 / mhz); };
    periods_.fill(period(bank_mhz));
    periods_[kEngine] = period(engine_mhz);
    periods_[kHost] = period(host_mhz);
    // Phases that are no simple fraction of each other.
    constexpr std::uint64_t kPhases[kCount] = {100'000,   700'017,   1'300'041,
                                               1'900'087, 2'500'113, 333'019};
    std::copy_n(kPhases, kCount, edges_.begin());
    soonest_ = *std::min_element(edges_.begin(), edges_.end());
  }

  /// The set of clocks that rise at the next edge, a bit each.
  unsigned next() const {
    unsigned rising = 0;
    for (std::size_t c = 0; c < kCount; ++c) rising |= edges_[c] == soonest_ ? 1U << c : 0;
    return rising;
  }

  /// Moves to the next edge and gives the clocks that rise there.
  unsigned advance() {
    const unsigned rising = next();
    now_ = soonest_;
    for (std::size_t c = 0; c < kCount; ++c) edges_[c] += (rising >> c & 1U) != 0 ? periods_[c] : 0;
    soonest_ = *std::min_element(edges_.begin(), edges_.end());
    return rising;
  }

  std::uint64_t now_fs() const { return now_; }

 private:
  std::array<std::uint64_t, kCount> periods_{};
  std::array<std::uint64_t, kCount> edges_{};  ///< the next of each
  std::uint64_t soonest_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace logos::d5005
