#pragma once

// The kernels with a thread an element: residual, and what chips read of each other.

#include "cuda/kernels/arguments.h"
#include "cuda/kernels/arithmetic.cuh"

namespace logos::cuda {

inline constexpr int kElementThreads = 256;

LOGOS_DEVICE std::int64_t element_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// The residual rule alone.
extern "C" __global__ void add_rows(const AddArguments<Pointer> a) {
  const std::int64_t i = element_index();
  if (i < a.count) store(a.out + i, residual(load(a.x + i), load(a.y + i)));
}

/// The exact sum over chips, then the two roundings.
extern "C" __global__ void scale_sums(const ScaleArguments<Pointer> a) {
  const std::int64_t i = element_index();
  if (i >= static_cast<std::int64_t>(a.rows) * a.columns) return;
  std::int64_t sum = 0;
  for (int chip = 0; chip < a.chips; ++chip) sum += load(a.sums + chip * a.stride + i);
  const int exponent = load(a.exponents + i / a.columns);
  const float scale =
      a.scales == nullptr ? kScaleB : load<Stream::kWeights>(a.scales + i % a.columns);
  store(a.out + i, product_value(sum, exponent, scale));
}

/// The chip whose share of `count` units holds one of them: shares are floor(c N / C) and on.
LOGOS_DEVICE int chip_of(std::int64_t unit, std::int64_t count, int chips) {
  return static_cast<int>(((unit + 1) * chips - 1) / count);
}

/// Each row from the chip that holds its token.
extern "C" __global__ void held_rows(const HeldArguments<Pointer> a) {
  const std::int64_t i = element_index();
  if (i >= static_cast<std::int64_t>(a.rows) * a.columns) return;
  const int chip = chip_of(load(a.tokens + i / a.columns), a.vocabulary, a.chips);
  store(a.out + i, load(a.x + chip * a.stride + i));
}

/// Parts put together in the chips' order.
extern "C" __global__ void join_rows(const JoinArguments<Pointer> a) {
  const std::int64_t i = element_index();
  if (i >= static_cast<std::int64_t>(a.rows) * a.columns) return;
  const std::int64_t row = i / a.columns;
  const std::int64_t column = i % a.columns;
  const int chip = chip_of(column, a.columns, a.chips);
  const std::int64_t first = static_cast<std::int64_t>(chip) * a.columns / a.chips;
  const std::int64_t end = static_cast<std::int64_t>(chip + 1) * a.columns / a.chips;
  store(a.out + i, load(a.x + chip * a.stride + row * (end - first) + column - first));
}

}  // namespace logos::cuda
