#pragma once

#include "cuda/kernels/attention.cuh"
#include "cuda/kernels/rows.cuh"

namespace logos::cuda {

/// Shared bytes before the staged row: the reductions', then per head E and inv.
__host__ __device__ inline int attention_rows_header(int heads) {
  return kRowHeaderBytes + (heads * 8 + 15) / 16 * 16;
}

/// Last part: one block a row adds the splits, divides, and quantizes over all heads.
extern "C" __global__ void attention_rows(const AttentionArguments<Pointer> a) {
  const int row = a.tile_first + static_cast<int>(blockIdx.x);
  const int columns = a.heads * a.columns;
  const RowSpan span = row_span(a.row, columns);
  float* stage = row_stage(a.row, row, columns, attention_rows_header(a.heads));
  auto* tops = reinterpret_cast<std::int32_t*>(smem + kRowHeaderBytes);
  auto* inverses = reinterpret_cast<float*>(tops + a.heads);
  for (int head = static_cast<int>(threadIdx.x); head < a.heads;
       head += static_cast<int>(blockDim.x)) {
    std::int64_t sum = 0;
    std::int32_t top = kZeroExponent;
    const int key = (a.first_head + head) / a.group - a.first_key;
    for (int split = 0; split < a.splits; ++split) {
      sum += load(a.weight_sums + partial_at(a, row, head, split));
      top = max(top, load(a.tops + top_at(a, row, key, split)));
    }
    tops[head] = top;
    inverses[head] = inverse_weight_sum(sum);
    if (a.totals != nullptr) {
      store(a.totals + static_cast<std::int64_t>(row - a.tile_first) * a.heads + head, sum);
    }
  }
  __syncthreads();
  std::uint32_t peak = 0;
  own_columns(span, [&](int j) {
    const int head = j / a.columns;
    const int column = j % a.columns;
    std::int64_t sum = 0;
    for (int split = 0; split < a.splits; ++split) {
      sum += load(a.value_sums + partial_at(a, row, head, split) * a.columns + column);
    }
    const float y = attention_value(sum, tops[head], inverses[head]);
    if (a.row.out != nullptr) store(a.row.out + static_cast<std::int64_t>(row) * columns + j, y);
    stage[j] = y;
    peak = max(peak, magnitude_bits(y));
  });
  finish_row(a.row, row, span, stage, peak, 0);
}

}  // namespace logos::cuda
