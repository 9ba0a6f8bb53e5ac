#pragma once

#include <cstdint>
#include <vector>

#include "bench/model.h"
#include "rtl/bringup/known_answer.h"
#include "rtl/lowering/plan.h"

namespace logos::d5005 {

/// Rungs 7 to 9, and random cuts for rung 10: cuts of a model over its prompt, with the bits that
/// the reference gives.
std::vector<KnownAnswer> cut_answers(const bench::Model& model, const EngineSize& engine,
                                     std::uint64_t seed);

}  // namespace logos::d5005
