#pragma once

#include <cstdint>
#include <vector>

#include "cuda/plan.h"
#include "program/program.h"

namespace logos::cuda {

/// What of the lane's configuration shapes a plan.
struct LoweringOptions {
  std::int64_t memory_bytes = 0;  ///< of the GPU
  std::int64_t gemm_rows = 9;     ///< from so many rows on, products take the tensor cores
};

/// The programs of all chips, in order -> the launch plan of one GPU that runs them all. Throws
/// Error for what the kernels cannot hold, with sizes.
Plan lower_programs(const std::vector<Program>& programs, const LoweringOptions& options);

}  // namespace logos::cuda
