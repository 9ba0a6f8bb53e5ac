// Every kernel of the lane, one translation unit: nvcc makes the cubins of it, the C++ compiler
// what the host executor runs, with the table that names both.

#include "cuda/kernels/attention_rows.cuh"
#include "cuda/kernels/attention_scores.cuh"
#include "cuda/kernels/attention_values.cuh"
#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/embed.cuh"
#include "cuda/kernels/heads.cuh"
#include "cuda/kernels/norm.cuh"
#include "cuda/kernels/product_dp4a.cuh"
#include "cuda/kernels/product_mma.cuh"
#include "cuda/kernels/quantize.cuh"
#include "cuda/kernels/silu.cuh"

#ifndef __CUDACC__
#include "cuda/kernels/table.h"

namespace logos::cuda {

const Kernels& kernels() {
  static constexpr Kernels kTable = {
      LOGOS_KERNEL(embed_rows),
      LOGOS_KERNEL(norm_rows),
      LOGOS_KERNEL(silu_rows),
      LOGOS_KERNEL(quantize_rows),
      LOGOS_KERNEL(product_dp4a_1),
      LOGOS_KERNEL(product_dp4a_2),
      LOGOS_KERNEL(product_dp4a_4),
      LOGOS_KERNEL(product_dp4a_8),
      LOGOS_KERNEL(product_mma),
      LOGOS_KERNEL(product_dp4a_1_half),
      LOGOS_KERNEL(product_dp4a_2_half),
      LOGOS_KERNEL(product_dp4a_4_half),
      LOGOS_KERNEL(product_dp4a_8_half),
      LOGOS_KERNEL(product_mma_half),
      LOGOS_KERNEL(head_blocks),
      LOGOS_KERNEL(attention_scores),
      LOGOS_KERNEL(attention_values),
      LOGOS_KERNEL(attention_rows),
      LOGOS_KERNEL(add_rows),
      LOGOS_KERNEL(scale_sums),
      LOGOS_KERNEL(held_rows),
      LOGOS_KERNEL(join_rows),
  };
  return kTable;
}

}  // namespace logos::cuda
#endif
