#pragma once

#include <cmath>
#include <cstdint>

#include "Vf32_add_model.h"
#include "Vf32_div_model.h"
#include "Vf32_mul_model.h"
#include "Vf32_sqrt_model.h"
#include "float_operands.h"
#include "float_pipe.h"

namespace logos {

/// One unit with two operands, its latency in cycles, and the host's own arithmetic, which is its
/// judge.
template <class ModelType, class Operation, std::uint64_t latency>
struct BinaryUnit {
  using Model = ModelType;
  static constexpr std::uint64_t kLatency = latency;

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
struct Over {
  float operator()(float a, float b) const { return a / b; }
};

using Add = BinaryUnit<Vf32_add_model, Plus, 6>;
using Multiply = BinaryUnit<Vf32_mul_model, Times, 5>;
using Divide = BinaryUnit<Vf32_div_model, Over, 18>;

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

using SqrtPipe = FloatPipe<Vf32_sqrt_model>;

inline void offer_root(SqrtPipe& pipe, std::uint32_t a) {
  const auto set = [](Vf32_sqrt_model& model, std::uint64_t x, std::uint64_t) {
    model.a_i = static_cast<std::uint32_t>(x);
  };
  pipe.offer(set, a, 0, canonical_bits(std::sqrt(std::bit_cast<float>(a))));
}

/// Random operands, few of them below zero; squares and their neighbours among them.
inline void check_random_roots(std::uint64_t operands, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  SqrtPipe pipe(seed);
  for (std::uint64_t i = 0; i < operands && !pipe.failed(); ++i) {
    std::uint32_t a = random.bits();
    switch (random.below(4)) {
      case 0:
        a = sparse(random);
        break;
      case 1: {
        const float root = std::bit_cast<float>(with_field(a, random.between(64, 190)));
        a = std::bit_cast<std::uint32_t>(root * root) +
            static_cast<std::uint32_t>(random.between(-2, 2));
        break;
      }
      case 2:
        a &= 0x7FFFFFu >> (random.below(2) * random.below(23));
        break;  // subnormal
      default:
        break;
    }
    if (random.below(16) != 0) a &= 0x7FFFFFFF;
    offer_root(pipe, a);
  }
  pipe.drain();
  EXPECT_EQ(pipe.results(), operands);
}

}  // namespace logos
