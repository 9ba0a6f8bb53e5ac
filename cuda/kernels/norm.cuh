#pragma once

#include "cuda/kernels/rows.cuh"

namespace logos::cuda {

/// One block a row: residual, RMS norm, block. Three reductions, a barrier each.
extern "C" __global__ void norm_rows(const NormArguments<Pointer> a) {
  const std::int64_t index = blockIdx.x;
  const std::int64_t base = index * a.columns;
  const RowSpan span = row_span(a.row, a.columns);
  float* stage = row_stage(a.row, index, a.columns, kRowHeaderBytes);

  std::uint32_t peak = 0;
  own_columns(span, [&](int j) {
    float z = load(a.x + base + j);
    if (a.addend != nullptr) z = residual(z, load(a.addend + base + j));
    if (a.sum != nullptr) store(a.sum + base + j, z);
    stage[j] = z;
    peak = max(peak, magnitude_bits(z));
  });
  peak = block_max(peak, 0);
  const BlockScale scale = block_scale(peak);
  if (scale.fault && threadIdx.x == 0) raise(a.fault);

  std::int64_t squares = 0;
  own_columns(span, [&](int j) {
    const std::int64_t q = quantized(stage[j], scale);
    squares += q * q;
  });
  squares = block_sum(squares, 1);
  const float factor = norm_factor(squares, a.columns, scale.exponent, a.epsilon);

  peak = 0;
  own_columns(span, [&](int j) {
    const float y = normed(stage[j], factor, load(a.gain + j));
    if (a.row.out != nullptr) store(a.row.out + base + j, y);
    stage[j] = y;
    peak = max(peak, magnitude_bits(y));
  });
  finish_row(a.row, index, span, stage, peak, 2);
}

}  // namespace logos::cuda
