#pragma once

#include "cuda/kernels/attention.cuh"

namespace logos::cuda {

/// Shared memory of attention_values: the weights of the split's positions, and per query the
/// maximum score and top exponent over all splits and the sum of its weights in this one.
struct ValuesMemory {
  std::int32_t* weights;     ///< `[kBlockQueries, split]`
  unsigned long long* sums;  ///< `[kBlockQueries]`
  float* maxima;
  std::int32_t* tops;
};
__host__ __device__ inline int values_bytes(int split) { return kBlockQueries * (4 * split + 16); }
LOGOS_DEVICE ValuesMemory values_memory() {
  auto* sums = reinterpret_cast<unsigned long long*>(smem);
  auto* maxima = reinterpret_cast<float*>(sums + kBlockQueries);
  auto* tops = reinterpret_cast<std::int32_t*>(maxima + kBlockQueries);
  return {tops + kBlockQueries, sums, maxima, tops};
}

/// m and E of each query from those of the splits: a warp takes a query.
LOGOS_DEVICE void join_splits(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                              int first, int count, const ValuesMemory& memory) {
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = static_cast<int>(threadIdx.x) / 32; i < count; i += warps) {
    const int row = block.row(first + i);
    std::uint32_t highest = 0;
    std::uint32_t top = 0;
    for (int split = lane; split < a.splits; split += 32) {
      highest = max(highest, load(a.maxima + partial_at(a, row, block.head(first + i), split)));
      const int exponent = load(a.tops + top_at(a, row, block.key, split));
      top = max(top, static_cast<std::uint32_t>(exponent - kZeroExponent));
    }
    highest = warp_max(highest);
    top = warp_max(top);
    if (lane == 0) {
      memory.maxima[i] = from_ordered_bits(highest);
      memory.tops[i] = static_cast<std::int32_t>(top) + kZeroExponent;
      memory.sums[i] = 0;
    }
  }
}

/// Positions of the block that query i sees.
struct SeenPositions {
  int begin;
  int end;
};
LOGOS_DEVICE SeenPositions seen_by(const AttentionArguments<Pointer>& a,
                                   const AttentionBlock& block, int query) {
  const int last = load(a.positions + block.row(query));
  return {max(block.begin, first_visible(a, last)), min(block.end, last + 1)};
}

/// l_t and w_t of one query: a thread takes a position.
LOGOS_DEVICE void weigh(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                        int query, int slot, const ValuesMemory& memory) {
  const int split_begin = static_cast<int>(blockIdx.x) * a.split;
  const SeenPositions seen = seen_by(a, block, query);
  const std::int64_t scores = scores_at(a, block.row(query), block.head(query));
  std::int32_t sum = 0;  // at most 2^23 a position, 16 positions a thread
  for (int t = seen.begin + static_cast<int>(threadIdx.x); t < seen.end;
       t += static_cast<int>(blockDim.x)) {
    const float p = probability(load(a.scores + scores + t), memory.maxima[slot]);
    sum += probability_integer(p);
    const int exponent =
        load<Stream::kKv>(a.value_exponents + cache_at(a, block.first_row, t, block.key));
    const std::int32_t weight = value_weight(p, exponent, memory.tops[slot]);
    memory.weights[slot * a.split + t - split_begin] = weight;
    if (a.weights != nullptr) store(a.weights + scores + t, weight);
  }
  const std::int64_t all = warp_sum(static_cast<std::int64_t>(sum));
  if (threadIdx.x % 32 == 0) atomicAdd(memory.sums + slot, static_cast<unsigned long long>(all));
}

/// Sums of weighted values of two columns of one query over the positions of the split.
LOGOS_DEVICE void add_values(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                             int query, int slot, int pair, const ValuesMemory& memory) {
  const int split = static_cast<int>(blockIdx.x);
  const SeenPositions seen = seen_by(a, block, query);
  const std::int32_t* weights = memory.weights + slot * a.split - split * a.split;
  const std::int64_t step = static_cast<std::int64_t>(a.key_heads) * a.head_pitch;
  const std::int16_t* values =
      a.values + cache_at(a, block.first_row, 0, block.key) * a.head_pitch + 2 * pair;
  std::int64_t first = 0;
  std::int64_t second = 0;
#pragma unroll 8
  for (int t = seen.begin; t < seen.end; ++t) {
    const std::uint32_t v =
        load<Stream::kKv>(reinterpret_cast<const std::uint32_t*>(values + t * step));
    const std::int64_t weight = weights[t];
    first += weight * static_cast<std::int16_t>(v & 0xFFFF);
    second += weight * static_cast<std::int16_t>(v >> 16);
  }
  const std::int64_t at =
      partial_at(a, block.row(query), block.head(query), split) * a.columns + 2 * pair;
  store(a.value_sums + at, first);
  store(a.value_sums + at + 1, second);
}

/// Second pass: weights and their sum, a thread a position; then weighted values, a thread two
/// columns of a query over all positions of the split, so that nothing is left to reduce.
extern "C" __global__ void attention_values(const AttentionArguments<Pointer> a) {
  const AttentionBlock block = attention_block(a);
  const ValuesMemory memory = values_memory();
  const int split = static_cast<int>(blockIdx.x);
  const int pairs = a.columns / 2;
  for (int first = 0; first < block.queries(); first += kBlockQueries) {
    const int count = min(kBlockQueries, block.queries() - first);
    join_splits(a, block, first, count, memory);
    __syncthreads();
    for (int i = 0; i < count; ++i) weigh(a, block, first + i, i, memory);
    __syncthreads();
    for (int item = static_cast<int>(threadIdx.x); item < count * pairs;
         item += static_cast<int>(blockDim.x)) {
      add_values(a, block, first + item / pairs, item / pairs, item % pairs, memory);
    }
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
      store(a.weight_sums + partial_at(a, block.row(first + i), block.head(first + i), split),
            static_cast<std::int64_t>(memory.sums[i]));
    }
    __syncthreads();
  }
}

}  // namespace logos::cuda
