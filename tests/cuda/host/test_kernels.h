#pragma once

// Kernels that use every name the executor offers. nvcc compiles them, too (tests/cuda/build).

#include "cuda/kernels/arithmetic.cuh"

namespace logos::cuda {

/// Sum over blocks of up to 1024 threads: shuffles, static and dynamic shared memory, a barrier.
struct SumArguments {
  const int* in;
  int* out;
  int count;
};
extern "C" __global__ void test_sum(const SumArguments a);

/// One int8 matrix row per warp, times an unsigned and a signed vector.
struct GemvArguments {
  const std::int8_t* weights;  ///< `[rows, columns]`
  const std::uint8_t* lo;
  const std::int8_t* hi;
  int* out_lo;
  int* out_hi;
  int rows;
  int columns;  ///< a multiple of 16
};
extern "C" __global__ void test_gemv(const GemvArguments a);

/// C (16 x 16) += A (16 x 32) B (32 x 16), B stored by columns: two tiles that share A.
struct MmaArguments {
  const std::uint8_t* a;  ///< `[16, 32]`
  const std::int8_t* b;   ///< `[16 columns, 32]`
  int* c;                 ///< `[16, 16]`
  int a_unsigned;
};
extern "C" __global__ void test_mma(const MmaArguments m);

/// Copies 16 bytes a thread through shared memory, two groups deep.
struct CopyArguments {
  const unsigned char* in;
  unsigned char* out;
  int early;  ///< 1: looks before the copy was waited for
};
extern "C" __global__ void test_copy(const CopyArguments a);

/// Everything elementwise, so that its PTX is looked at.
struct ElementArguments {
  const float* x;
  float* out;  ///< `[8, count]`
  int count;
};
extern "C" __global__ void test_elements(const ElementArguments a);

}  // namespace logos::cuda
