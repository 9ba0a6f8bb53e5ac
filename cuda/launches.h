#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cuda/machine.h"
#include "cuda/plan.h"

namespace logos::cuda {

/// What a run adds to its plan.
struct RunShape {
  std::vector<std::int32_t> positions;  ///< one a row, from 0; empty where the cut has none
  std::int64_t reach = 0;               ///< cache positions that the rows see: the highest + 1
};

/// Rows of attention that go through the scratch buffers together, splits of the positions.
struct AttentionTile {
  std::int64_t rows = 0;
  std::int64_t splits = 0;
};
AttentionTile attention_tile(const AttentionArguments<Planned>& a, std::int64_t reach);

/// Bytes of a scratch buffer that attention of one chip needs.
std::int64_t scratch_bytes(const AttentionArguments<Planned>& a, Scratch kind, std::int64_t reach);

/// One launch of a step: kernel, shape, useful traffic, and the step's arguments with what the run
/// sets, still with references.
struct PlannedLaunch {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  Traffic traffic;
  std::uint64_t macs = 0;  ///< of the model: 8 x 16 bits, or 16 x 16 and 24 x 16 in attention
  Work work;
};

/// The launches of a step, which check_step has passed, in order.
std::vector<PlannedLaunch> launches_of(const Step& step, const RunShape& run);

/// Told of each pointer of a launch: `bytes` from the reference on are read or written. `required`:
/// the kernel does not take null for it; else null references are not told of.
using Need = std::function<void(const Reference& reference, std::int64_t bytes, bool required)>;

/// Throws Error (where = `where`) for a step that could take its kernels outside of their buffers
/// or their own bounds, and tells `need` of each pointer's extent. To be asked before launches_of.
void check_step(const Step& step, const Plan& plan, const RunShape& run, std::string_view where,
                const Need& need);

}  // namespace logos::cuda
