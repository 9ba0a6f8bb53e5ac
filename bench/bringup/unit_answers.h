#pragma once

#include <cstdint>
#include <vector>

#include "rtl/bringup/known_answer.h"
#include "rtl/lowering/plan.h"

namespace logos::d5005 {

/// Rung 6: vectors that work one unit at a time.
std::vector<KnownAnswer> unit_answers(const EngineSize& engine);

/// Rung 10: the same kinds of program at random shapes, by seed.
std::vector<KnownAnswer> random_answers(const EngineSize& engine, std::uint64_t seed, int count);

}  // namespace logos::d5005
