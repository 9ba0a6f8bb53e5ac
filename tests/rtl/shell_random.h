#pragma once

#include <cstdint>
#include <random>

namespace logos {

/// Numbers of 32 bits by seed, the same on every platform.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }
  std::uint64_t wide() { return std::uint64_t{(*this)()} << 32 | (*this)(); }
  bool chance(unsigned percent) { return (*this)() % 100 < percent; }

 private:
  std::mt19937 engine_;
};

}  // namespace logos
