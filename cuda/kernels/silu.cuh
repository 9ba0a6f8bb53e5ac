#pragma once

#include "cuda/kernels/rows.cuh"

namespace logos::cuda {

/// One block a row: silu(gate) * up, then its peak or block.
extern "C" __global__ void silu_rows(const SiluArguments<Pointer> a) {
  const std::int64_t index = blockIdx.x;
  const std::int64_t base = index * a.columns;
  const RowSpan span = row_span(a.row, a.columns);
  float* stage = row_stage(a.row, index, a.columns, kRowHeaderBytes);
  std::uint32_t peak = 0;
  own_columns(span, [&](int j) {
    float y = silu(load(a.gate + base + j));
    if (a.up != nullptr) y = __fmul_rn(y, load(a.up + base + j));
    if (a.row.out != nullptr) store(a.row.out + base + j, y);
    stage[j] = y;
    peak = max(peak, magnitude_bits(y));
  });
  finish_row(a.row, index, span, stage, peak, 0);
}

}  // namespace logos::cuda
