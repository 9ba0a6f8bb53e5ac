#pragma once

#include "cuda/kernels/rows.cuh"

namespace logos::cuda {

/// One block a row: its peak or block, at the row's own peak or at the greatest of all chips'.
extern "C" __global__ void quantize_rows(const QuantizeArguments<Pointer> a) {
  const std::int64_t index = blockIdx.x;
  const float* x = a.x + index * a.columns;
  const RowSpan span = row_span(a.row, a.columns);
  if (a.peaks != nullptr) {
    std::uint32_t peak = 0;
    for (int chip = 0; chip < a.chips; ++chip) {
      peak = max(peak, load(a.peaks + static_cast<std::int64_t>(chip) * a.peak_stride + index));
    }
    write_block(a.row, index, span, x, peak);
    return;
  }
  std::uint32_t peak = 0;
  own_columns(span, [&](int j) { peak = max(peak, magnitude_bits(load(x + j))); });
  finish_row(a.row, index, span, x, peak, 0);
}

}  // namespace logos::cuda
