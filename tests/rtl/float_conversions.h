#pragma once

#include <bit>
#include <cstdint>

#include "Vint_to_f32_model.h"
#include "Vround_scaled_model.h"
#include "float_operands.h"
#include "float_pipe.h"
#include "sim/reference/arithmetic.h"

namespace logos {

using ToFloat = FloatPipe<Vint_to_f32_model>;
using Round = FloatPipe<Vround_scaled_model>;

inline void put_integer(Vint_to_f32_model& model, std::uint64_t a, std::uint64_t) { model.i_i = a; }

inline void offer_integer(ToFloat& pipe, std::int64_t i) {
  pipe.offer(put_integer, static_cast<std::uint64_t>(i), 0,
             canonical_bits(reference::nearest_f32(i)));
}

/// Random integers of every width, many of them ties.
inline void check_random_integers(std::uint64_t integers, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  ToFloat pipe(seed);
  for (std::uint64_t n = 0; n < integers && !pipe.failed(); ++n) {
    std::uint64_t bits = random.next();
    if (random.below(4) == 0) bits &= ~std::uint64_t{0} << random.below(64);  // ties
    if (random.below(4) == 0) bits |= (std::uint64_t{1} << random.below(40)) - 1;
    offer_integer(pipe, static_cast<std::int64_t>(bits) >> random.below(64));
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), integers);
}

/// R(x, s) as the unit gives it: beyond 25 bits the largest magnitude, with x's sign.
inline std::uint32_t rounded_bits(std::uint32_t x, int s) {
  constexpr std::int64_t kLargest = (1 << 25) - 1;
  const int field = static_cast<int>((x >> 23) & 0xFF);
  std::int64_t q = 0;
  if (field != 0 && field - 150 + s > 1) {
    q = (x >> 31) != 0 ? -kLargest : kLargest;
  } else if (field != 0) {
    q = reference::rounded(std::bit_cast<float>(x), s);
  }
  return static_cast<std::uint32_t>(q) & 0x3FFFFFF;
}

inline void offer_rounded(Round& pipe, std::uint32_t x, int s) {
  const auto set = [](Vround_scaled_model& model, std::uint64_t a, std::uint64_t b) {
    model.x_i = static_cast<std::uint32_t>(a);
    model.s_i = static_cast<std::uint16_t>(b & 0x3FF);
  };
  pipe.offer(set, x, static_cast<std::uint64_t>(s), rounded_bits(x, s));
}

/// Random operands at shifts that leave nothing, something or too much.
inline void check_random_rounding(std::uint64_t operands, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  Round pipe(seed);
  for (std::uint64_t n = 0; n < operands && !pipe.failed(); ++n) {
    const std::uint32_t x = random.below(2) != 0 ? random.bits() : sparse(random);
    const int field = static_cast<int>((x >> 23) & 0xFF);
    // From a shift to the right that leaves nothing to one that saturates; or any.
    const int s =
        random.below(8) == 0 ? random.between(-512, 511) : 150 - field - random.between(-4, 28);
    offer_rounded(pipe, x, s);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), operands);
}

}  // namespace logos
