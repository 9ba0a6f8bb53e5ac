#pragma once

#include "cuda/kernels/attention.cuh"

namespace logos::cuda {

/// Shared memory of attention_scores: the block's queries as bytes, the maximum of each query and
/// the top exponent of each row.
struct ScoresMemory {
  uint4* queries;         ///< `[kBlockQueries, head_pitch / 8]`
  std::uint32_t* maxima;  ///< `[kBlockQueries]`
  std::uint32_t* tops;    ///< `[kBlockQueries]`: exponent + 128
};
inline constexpr int kScoresBytes = kBlockQueries * (kHeadColumns / 8 * 16 + 8);

LOGOS_DEVICE ScoresMemory scores_memory() {
  auto* queries = reinterpret_cast<uint4*>(smem);
  auto* words = reinterpret_cast<std::uint32_t*>(queries + kBlockQueries * (kHeadColumns / 8));
  return {queries, words, words + kBlockQueries};
}

/// Puts queries [first, first + count) of the block into shared memory.
LOGOS_DEVICE void stage_queries(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                                int first, int count, const ScoresMemory& memory) {
  const int pieces = a.head_pitch / 8;
  for (int i = static_cast<int>(threadIdx.x); i < count * pieces;
       i += static_cast<int>(blockDim.x)) {
    const int query = first + i / pieces;
    const int piece = i % pieces;
    const std::int16_t* q =
        a.q +
        (static_cast<std::int64_t>(block.row(query)) * a.heads + block.head(query)) * a.columns;
    std::uint32_t words[4] = {};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int column = 8 * piece + j;
      if (column >= a.columns) continue;  // zeros meet what the cache's padding holds
      words[j / 2] |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(load(q + column)))
                      << (16 * (j % 2));
    }
    memory.queries[i] = split_bytes(make_uint4(words[0], words[1], words[2], words[3]));
  }
  if (threadIdx.x < kBlockQueries) {
    memory.maxima[threadIdx.x] = 0;
    memory.tops[threadIdx.x] = 0;
  }
}

/// Scores of kQueryTile queries from `query` on (of `count` staged ones) at one position; raises
/// the thread's own maxima.
LOGOS_DEVICE void score_tile(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                             int first, int query, int count, int position,
                             const ScoresMemory& memory, float isq,
                             std::uint32_t (&best)[kBlockQueries]) {
  bool sees[kQueryTile];
  bool any = false;
  WideSum sums[kQueryTile];
#pragma unroll
  for (int i = 0; i < kQueryTile; ++i) {
    sees[i] = false;
    if (query + i >= count) continue;
    const int last = load(a.positions + block.row(first + query + i));
    sees[i] = position <= last && position >= first_visible(a, last);
    any = any || sees[i];
  }
  if (!any) return;
  // All rows of a block share a cache: a block of rows with caches of their own has one row.
  const std::int64_t at = cache_at(a, block.first_row, position, block.key);
  const int pieces = a.head_pitch / 8;
  for (int piece = 0; piece < pieces; ++piece) {
    const uint4 key = split_bytes(
        load<Stream::kKv>(reinterpret_cast<const uint4*>(a.keys + at * a.head_pitch) + piece));
#pragma unroll
    for (int i = 0; i < kQueryTile; ++i) {
      if (sees[i]) sums[i].add(key, memory.queries[(query + i) * pieces + piece]);
    }
  }
  const int key_exponent = load<Stream::kKv>(a.key_exponents + at);
#pragma unroll
  for (int i = 0; i < kQueryTile; ++i) {
    if (!sees[i]) continue;
    const int row = block.row(first + query + i);
    const int head = block.head(first + query + i);
    const int exponent = load(a.exponents + static_cast<std::int64_t>(row) * a.heads + head);
    const float score = attention_score(sums[i].value(), exponent, key_exponent, isq);
    store(a.scores + scores_at(a, row, head) + position, score);
    best[query + i] = max(best[query + i], ordered_bits(score));
  }
}

/// The largest value exponent that each row of the block sees in this split.
LOGOS_DEVICE void find_tops(const AttentionArguments<Pointer>& a, const AttentionBlock& block,
                            const ScoresMemory& memory) {
  for (int r = 0; r < block.rows; ++r) {
    const int last = load(a.positions + block.first_row + r);
    std::uint32_t top = 0;
    const int end = min(block.end, last + 1);
    for (int t = max(block.begin, first_visible(a, last)) + static_cast<int>(threadIdx.x); t < end;
         t += static_cast<int>(blockDim.x)) {
      const int exponent =
          load<Stream::kKv>(a.value_exponents + cache_at(a, block.first_row, t, block.key));
      top = max(top, static_cast<std::uint32_t>(exponent + 128));
    }
    top = warp_max(top);
    if (threadIdx.x % 32 == 0) atomicMax(memory.tops + r, top);
  }
}

/// First pass: a thread takes a position and all queries of the block. Writes the scores and, of
/// this split, the largest score of each query and the top value exponent of each row; where a row
/// sees nothing of the split, the neutral ones (0 and ZE).
extern "C" __global__ void attention_scores(const AttentionArguments<Pointer> a) {
  const AttentionBlock block = attention_block(a);
  const ScoresMemory memory = scores_memory();
  const int split = static_cast<int>(blockIdx.x);
  const float isq = inverse_root(a.columns);
  for (int first = 0; first < block.queries(); first += kBlockQueries) {
    const int count = min(kBlockQueries, block.queries() - first);
    stage_queries(a, block, first, count, memory);
    __syncthreads();
    std::uint32_t best[kBlockQueries] = {};
    for (int t = block.begin + static_cast<int>(threadIdx.x); t < block.end;
         t += static_cast<int>(blockDim.x)) {
#pragma unroll
      for (int query = 0; query < kBlockQueries; query += kQueryTile) {
        if (query < count) score_tile(a, block, first, query, count, t, memory, isq, best);
      }
    }
#pragma unroll
    for (int query = 0; query < kBlockQueries; ++query) {
      if (query >= count) continue;
      const std::uint32_t highest = warp_max(best[query]);
      if (threadIdx.x % 32 == 0) atomicMax(memory.maxima + query, highest);
    }
    if (first == 0) find_tops(a, block, memory);
    __syncthreads();
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
      const int query = first + i;
      store(a.maxima + partial_at(a, block.row(query), block.head(query), split), memory.maxima[i]);
    }
    if (first == 0 && i < block.rows) {
      store(a.tops + top_at(a, block.first_row + i, block.key, split),
            static_cast<std::int32_t>(memory.tops[i]) + kZeroExponent);
    }
    __syncthreads();
  }
}

}  // namespace logos::cuda
