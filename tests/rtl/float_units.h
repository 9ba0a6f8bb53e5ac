#pragma once

#include <cmath>
#include <cstdint>

#include "Vf32_add_model.h"
#include "Vf32_mul_model.h"
#include "float_operands.h"
#include "float_pipe.h"

namespace logos {

/// One unit with two operands and the host's own arithmetic, which is its judge.
template <class ModelType, class Operation>
struct BinaryUnit {
  using Model = ModelType;

  static void set(Model& model, std::uint64_t a, std::uint64_t b) {
    model.a_i = static_cast<std::uint32_t>(a);
    model.b_i = static_cast<std::uint32_t>(b);
  }
  static std::uint32_t expected(std::uint32_t a, std::uint32_t b) {
    return canonical_bits(Operation{}(std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
};

struct Plus {
  float operator()(float a, float b) const { return a + b; }
};
struct Times {
  float operator()(float a, float b) const { return a * b; }
};

using Add = BinaryUnit<Vf32_add_model, Plus>;
using Multiply = BinaryUnit<Vf32_mul_model, Times>;

template <class Unit>
using UnitPipe = FloatPipe<typename Unit::Model>;

template <class Unit>
void offer(UnitPipe<Unit>& pipe, std::uint32_t a, std::uint32_t b) {
  pipe.offer(Unit::set, a, b, Unit::expected(a, b));
}

/// Random pairs of all kinds.
template <class Unit>
void check_random_pairs(std::uint64_t pairs, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  UnitPipe<Unit> pipe(seed);
  for (std::uint64_t i = 0; i < pairs && !pipe.failed(); ++i) {
    const auto [a, b] = random_pair(random);
    offer<Unit>(pipe, a, b);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), pairs);
}

}  // namespace logos
