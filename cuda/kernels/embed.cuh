#pragma once

#include "cuda/kernels/arguments.h"
#include "cuda/kernels/arithmetic.cuh"

namespace logos::cuda {

/// One block a row, its threads over the columns.
extern "C" __global__ void embed_rows(const EmbedArguments<Pointer> a) {
  const std::int64_t row = blockIdx.x;
  const std::int32_t token = load(a.tokens + row);
  float* out = a.out + row * a.columns;
  if (token < a.row_begin || token >= a.row_end) {  // another chip's
    for (int j = static_cast<int>(threadIdx.x); j < a.columns; j += static_cast<int>(blockDim.x)) {
      store(out + j, 0.0F);
    }
    return;
  }
  const std::int8_t* q = a.q + static_cast<std::int64_t>(token) * a.pitch;
  const std::int64_t group = static_cast<std::int64_t>(token) * a.groups;
  if (a.scales == nullptr) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(a.multipliers) + group;
    for (int j = static_cast<int>(threadIdx.x); j < a.columns; j += static_cast<int>(blockDim.x)) {
      const std::int32_t multiplier = half_multiplier(load<Stream::kWeights>(halves + j / 32));
      store(out + j, embedding_value(load<Stream::kWeights>(q + j), multiplier, kScaleB));
    }
    return;
  }
  const float scale = load<Stream::kWeights>(a.scales + token);
  const std::uint8_t* multipliers = a.multipliers + group;
  for (int j = static_cast<int>(threadIdx.x); j < a.columns; j += static_cast<int>(blockDim.x)) {
    const std::int32_t multiplier = load<Stream::kWeights>(multipliers + j / 32);
    store(out + j, embedding_value(load<Stream::kWeights>(q + j), multiplier, scale));
  }
}

}  // namespace logos::cuda
