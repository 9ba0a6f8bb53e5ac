#pragma once

#include "cuda/machine.h"

namespace logos::cuda {

/// Every kernel of the lane by its role. One product kernel for each number of rows of its tile.
struct Kernels {
  Kernel embed_rows;
  Kernel norm_rows;
  Kernel silu_rows;
  Kernel quantize_rows;
  Kernel product_dp4a_1;
  Kernel product_dp4a_2;
  Kernel product_dp4a_4;
  Kernel product_dp4a_8;
  Kernel product_mma;
  Kernel product_dp4a_1_half;  ///< of profile B
  Kernel product_dp4a_2_half;
  Kernel product_dp4a_4_half;
  Kernel product_dp4a_8_half;
  Kernel product_mma_half;
  Kernel head_blocks;
  Kernel attention_scores;
  Kernel attention_values;
  Kernel attention_rows;
  Kernel add_rows;
  Kernel scale_sums;
  Kernel held_rows;
  Kernel join_rows;
};
const Kernels& kernels();

}  // namespace logos::cuda
