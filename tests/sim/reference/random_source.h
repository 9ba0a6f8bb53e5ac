#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace logos {

/// Random numbers of a test. The seed is LOGOS_TEST_SEED where that is set, else fixed; it is
/// printed, so that a failure can be run again.
class RandomSource {
 public:
  RandomSource() : seed_(seed_of_environment()), engine_(seed_) {
    std::printf("[ seed     ] LOGOS_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  }

  std::uint64_t bits() { return engine_(); }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  static std::uint64_t seed_of_environment() {
    const char* text = std::getenv("LOGOS_TEST_SEED");
    return text == nullptr ? 20240607u : std::stoull(text);
  }

  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace logos
