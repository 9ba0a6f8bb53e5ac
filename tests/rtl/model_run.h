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
  /// All that the boards stored: those of all boards for each pass; noise where nothing was.
  std::vector<std::vector<std::byte>> buffers;
};

/// Boards exchange what the plan says. The seed decides in which order units run; padding and what
/// was never written hold garbage. `observed`: every pass runs to its end, for its buffers.
ModelRun run_on_models(const Plan& plan, const contract::Job& job, const Inputs& inputs,
                       std::uint32_t seed, bool observed = false);

}  // namespace logos::d5005
