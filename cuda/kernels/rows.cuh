#pragma once

// What the kernels that hold a whole row in a block share: maxima and sums over the block, and what
// becomes of the row (RowOutputs).

#include "cuda/kernels/arguments.h"
#include "cuda/kernels/arithmetic.cuh"

namespace logos::cuda {

inline constexpr int kRowWarps = 16;      ///< the most that a row's block has
inline constexpr int kRowReductions = 4;  ///< over the block, each with its own shared words
inline constexpr int kRowHeaderBytes = kRowReductions * kRowWarps * 8;

/// Sets the sticky word of an operation.
LOGOS_DEVICE void raise(std::uint32_t* fault) { *fault = 1; }

/// The largest value of the block, for all its threads. `slot`: 0 to kRowReductions - 1, another
/// one for each reduction of a kernel, so that one barrier does.
LOGOS_DEVICE std::uint32_t block_max(std::uint32_t value, int slot) {
  value = warp_max(value);
  if (blockDim.x <= 32) return value;
  auto* words = reinterpret_cast<std::uint32_t*>(smem + slot * kRowWarps * 8);
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) value = max(value, words[warp]);
  return value;
}

LOGOS_DEVICE std::int64_t block_sum(std::int64_t value, int slot) {
  value = warp_sum(value);
  if (blockDim.x <= 32) return value;
  auto* words = reinterpret_cast<std::int64_t*>(smem + slot * kRowWarps * 8);
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = value;
  __syncthreads();
  std::int64_t sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sum += words[warp];
  return sum;
}

/// Which columns a thread owns, the same in each pass over the row, so that no barrier is needed
/// between passes: runs of 4 of the block's padded columns.
struct RowSpan {
  int lead;  ///< padded columns before column 0
  int columns;
  int padded;  ///< a multiple of 4, at least lead + columns
};

LOGOS_DEVICE RowSpan row_span(const RowOutputs<Pointer>& row, int columns) {
  return {row.lead, columns, row.hi != nullptr ? row.pitch : (row.lead + columns + 3) / 4 * 4};
}

/// Calls visit(column) for each own column.
template <typename Visit>
LOGOS_DEVICE void own_columns(const RowSpan& span, Visit visit) {
  for (int p = 4 * static_cast<int>(threadIdx.x); p < span.padded;
       p += 4 * static_cast<int>(blockDim.x)) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = p + i - span.lead;
      if (column >= 0 && column < span.columns) visit(column);
    }
  }
}

/// Where a row's values wait between passes: shared memory behind `header_bytes`, or, where it is
/// too wide for that, the row's own place in `out`.
LOGOS_DEVICE float* row_stage(const RowOutputs<Pointer>& row, std::int64_t index, int columns,
                              int header_bytes) {
  return columns <= kStagedColumns ? reinterpret_cast<float*>(smem + header_bytes)
                                   : row.out + index * columns;
}

/// Quantizes the staged row at `peak` into its block, zeros around it (section 2).
LOGOS_DEVICE void write_block(const RowOutputs<Pointer>& row, std::int64_t index,
                              const RowSpan& span, const float* stage, std::uint32_t peak) {
  const BlockScale scale = block_scale(peak);
  if (threadIdx.x == 0) {
    if (scale.fault) raise(row.fault);
    store(row.exponents + index, static_cast<std::int8_t>(scale.exponent));
  }
  for (int p = 4 * static_cast<int>(threadIdx.x); p < row.pitch;
       p += 4 * static_cast<int>(blockDim.x)) {
    std::uint32_t hi = 0;
    std::uint32_t lo = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = p + i - span.lead;
      if (column < 0 || column >= span.columns) continue;
      const auto q = static_cast<std::uint32_t>(quantized(stage[column], scale));
      hi |= (q >> 8 & 0xFF) << (8 * i);
      lo |= (q & 0xFF) << (8 * i);
    }
    const std::int64_t at = index * row.pitch + p;
    store(reinterpret_cast<std::uint32_t*>(row.hi + at), hi);
    store(reinterpret_cast<std::uint32_t*>(row.lo + at), lo);
  }
}

/// What becomes of a staged row; `peak` is the largest magnitude of this thread's columns.
LOGOS_DEVICE void finish_row(const RowOutputs<Pointer>& row, std::int64_t index,
                             const RowSpan& span, const float* stage, std::uint32_t peak,
                             int slot) {
  if (row.peak == nullptr && row.hi == nullptr) return;
  peak = block_max(peak, slot);
  if (row.peak != nullptr && threadIdx.x == 0) store(row.peak + index, peak);
  if (row.hi != nullptr) write_block(row, index, span, stage, peak);
}

}  // namespace logos::cuda
