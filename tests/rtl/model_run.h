#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rtl/lowering/plan.h"
#include "sim/inputs.h"
#include "tests/contract/contract.h"

namespace logos::d5005 {

/// A run of a plan on instruction models, one a board.
struct ModelRun {
  std::vector<float> outputs;
  bool fault = false;
  Inputs inputs;  ///< with what was pushed
};

/// Boards exchange what the plan says. The seed decides in which order units run; padding and what
/// was never written hold garbage.
ModelRun run_on_models(const Plan& plan, const contract::Job& job, const Inputs& inputs,
                       std::uint32_t seed);

}  // namespace logos::d5005
