#pragma once

#include "float_curves.h"
#include "sim/reference/arithmetic.h"

namespace logos {

/// -87, the last x of which exp_neg is not 0.
inline constexpr std::uint32_t kLastExponent = 0xC2AE0000;

inline void offer_exp(ExpPipe& pipe, std::uint32_t x) {
  // The formula leaves open what comes of a NaN's payload; the unit gives the one NaN.
  const bool nan = (x & 0x7FFFFFFF) > 0x7F800000;
  const float y = nan ? 0.0f : reference::exp_neg(std::bit_cast<float>(x));
  offer_curve(pipe, x, nan ? 0x7FC00000 : std::bit_cast<std::uint32_t>(y));
}

inline void offer_silu(SiluPipe& pipe, std::uint32_t x) {
  offer_curve(pipe, x, canonical_bits(reference::silu(std::bit_cast<float>(x))));
}

/// Every `stride`-th x from -0 to -87.
inline void check_exponents(std::uint32_t stride) {
  ExpPipe pipe(stride);
  std::uint64_t count = 0;
  for (std::uint64_t x = 0x80000000; x <= kLastExponent && !pipe.failed(); x += stride, ++count) {
    offer_exp(pipe, static_cast<std::uint32_t>(x));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), count);
}

/// Every `stride`-th x of all bit patterns.
inline void check_silu(std::uint32_t stride) {
  SiluPipe pipe(stride);
  std::uint64_t count = 0;
  for (std::uint64_t x = 0; x <= 0xFFFFFFFF && !pipe.failed(); x += stride, ++count) {
    offer_silu(pipe, static_cast<std::uint32_t>(x));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), count);
}

}  // namespace logos
