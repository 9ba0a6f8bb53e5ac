#pragma once

#include "cuda/kernels/product.cuh"

namespace logos::cuda {

inline constexpr int kMmaThreads = 128;
inline constexpr int kMmaTiles = 8;     ///< of 8 outputs, a warp
inline constexpr int kMmaStages = 3;    ///< of shared memory: two are filled while one is used
inline constexpr int kMmaColumns = 64;  ///< of a stage: two groups
inline constexpr int kMmaPitch = kMmaColumns + 16;  ///< bytes: 8 rows fall into different banks

/// Rows and outputs of a block's tile, and where its parts lie in a stage of shared memory.
struct MmaTile {
  int rows;
  int outputs;
  int lo;  ///< bytes from the stage's begin
  int weights;
  int multipliers;
  int stage_bytes;
};
template <typename Multiplier>
__host__ __device__ inline MmaTile mma_tile(int token_warps) {
  MmaTile tile{};
  tile.rows = 16 * token_warps;
  tile.outputs = 8 * kMmaTiles * (kMmaThreads / 32 / token_warps);
  tile.lo = tile.rows * kMmaPitch;
  tile.weights = 2 * tile.lo;
  tile.multipliers = tile.weights + tile.outputs * kMmaPitch;
  tile.stage_bytes =
      tile.multipliers + 2 * tile.outputs * static_cast<int>(sizeof(typename Multiplier::Kept));
  return tile;
}

/// Multipliers of a stage that one thread fetches: two groups of 256 outputs at most.
inline constexpr int kMmaMultipliers = 4;

/// The columns of one stage on their way: copies of the block and of the weights go to shared
/// memory by themselves, multipliers (rows of any length) through registers.
template <typename Multiplier>
struct MmaLoader {
  using Kept = typename Multiplier::Kept;

  const ProductArguments<Pointer>& a;
  const ProductSegment<Pointer>& s;
  MmaTile tile;
  int row;     ///< first row of the tile
  int output;  ///< first output of the tile

  LOGOS_DEVICE void start(int stage, unsigned char* memory) const {
    const int column = stage * kMmaColumns;
    const int pieces = min(a.span - column, kMmaColumns) / 16;
    const int rows = min(a.rows - row, tile.rows);
    const int outputs = min(s.outputs - output, tile.outputs);
    for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += kMmaThreads) {
      const int r = i / pieces;
      const int byte = i % pieces * 16;
      const std::int64_t from = static_cast<std::int64_t>(row + r) * a.span + column + byte;
      copy_async_16<Stream::kOther>(memory + r * kMmaPitch + byte, a.hi + from);
      copy_async_16<Stream::kOther>(memory + tile.lo + r * kMmaPitch + byte, a.lo + from);
    }
    for (int i = static_cast<int>(threadIdx.x); i < outputs * pieces; i += kMmaThreads) {
      const int o = i / pieces;
      const int byte = i % pieces * 16;
      const std::int64_t from =
          (static_cast<std::int64_t>(s.first) + output + o) * s.pitch + a.column + column + byte;
      copy_async_16(memory + tile.weights + o * kMmaPitch + byte, s.q + from);
    }
  }

  LOGOS_DEVICE void fetch(int stage, Kept (&c)[kMmaMultipliers]) const {
#pragma unroll
    for (int i = 0; i < kMmaMultipliers; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * kMmaThreads;  // output * 2 + group
      const int o = output + at / 2;
      const int column = stage * kMmaColumns + at % 2 * 32;
      c[i] = 0;
      if (at < 2 * tile.outputs && o < s.outputs && column < a.span) {
        c[i] = Multiplier::of(load<Stream::kWeights>(
            multipliers_of<Multiplier>(s, static_cast<std::int64_t>(s.first) + o) +
            (a.column + column) / 32));
      }
    }
  }

  LOGOS_DEVICE void keep(const Kept (&c)[kMmaMultipliers], unsigned char* memory) const {
#pragma unroll
    for (int i = 0; i < kMmaMultipliers; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * kMmaThreads;
      if (at < 2 * tile.outputs) reinterpret_cast<Kept*>(memory + tile.multipliers)[at] = c[i];
    }
  }
};

/// The 16 rows and 64 outputs of a warp: the exact sums of one group at a time (two passes of
/// bytes), times the group's multiplier, into 64-bit sums.
template <typename Multiplier>
struct MmaWarp {
  int row;     ///< first of the warp in the tile
  int output;  ///< likewise
  int g;       ///< lane / 4
  int t;       ///< lane % 4
  std::int64_t sums[kMmaTiles][4];

  LOGOS_DEVICE void add_group(const unsigned char* memory, const MmaTile& tile, int group) {
    FragmentA hi;
    FragmentA lo;
    FragmentB weights[kMmaTiles];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int at = (row + g + 8 * (r % 2)) * kMmaPitch + group * 32 + 4 * t + 16 * (r / 2);
      hi.value[r] = *reinterpret_cast<const std::uint32_t*>(memory + at);
      lo.value[r] = *reinterpret_cast<const std::uint32_t*>(memory + tile.lo + at);
    }
    Accumulators sum[kMmaTiles] = {};
#pragma unroll
    for (int j = 0; j < kMmaTiles; ++j) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int at = (output + 8 * j + g) * kMmaPitch + group * 32 + 4 * t + 16 * r;
        weights[j].value[r] = *reinterpret_cast<const std::uint32_t*>(memory + tile.weights + at);
      }
    }
    mma_s8_s8(sum, hi, weights);
#pragma unroll
    for (Accumulators& part : sum) {
#pragma unroll
      for (auto& value : part.value) value *= 256;
    }
    mma_u8_s8(sum, lo, weights);
#pragma unroll
    for (int j = 0; j < kMmaTiles; ++j) {
      const auto* c =
          reinterpret_cast<const typename Multiplier::Kept*>(memory + tile.multipliers) +
          (output + 8 * j + 2 * t) * 2 + group;
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        sums[j][v] += static_cast<std::int64_t>(c[v % 2 * 2]) * sum[j].value[v];
      }
    }
  }
};

/// A block computes 16 * token_warps rows times 64 * (4 / token_warps) outputs, one barrier for
/// each 64 columns. grid.x: tiles of outputs of all segments; grid.y: tiles of rows.
template <typename Multiplier>
LOGOS_DEVICE void multiply_by_mma(const ProductArguments<Pointer>& a) {
  const MmaTile tile = mma_tile<Multiplier>(a.token_warps);
  const SegmentBlock place = segment_block(a, static_cast<int>(blockIdx.x), tile.outputs);
  const ProductSegment<Pointer>& s = a.segments[place.segment];
  const MmaLoader<Multiplier> loader{a, s, tile, static_cast<int>(blockIdx.y) * tile.rows,
                                     place.block * tile.outputs};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  MmaWarp<Multiplier> work{
      warp % a.token_warps * 16, warp / a.token_warps * 8 * kMmaTiles, lane / 4, lane % 4, {}};

  const int stages = (a.span + kMmaColumns - 1) / kMmaColumns;
  typename Multiplier::Kept c[kMmaMultipliers];
#pragma unroll
  for (int stage = 0; stage < kMmaStages - 1; ++stage) {
    unsigned char* memory = smem + stage * tile.stage_bytes;
    if (stage < stages) {
      loader.start(stage, memory);
      loader.fetch(stage, c);
      loader.keep(c, memory);
    }
    copy_commit();
  }
  for (int stage = 0; stage < stages; ++stage) {
    copy_wait<kMmaStages - 2>();
    __syncthreads();  // this stage is there, and nobody uses the one that is filled next
    const int next = stage + kMmaStages - 1;
    unsigned char* next_memory = smem + next % kMmaStages * tile.stage_bytes;
    if (next < stages) {
      loader.start(next, next_memory);
      loader.fetch(next, c);
    }
    copy_commit();
    const unsigned char* memory = smem + stage % kMmaStages * tile.stage_bytes;
    const int groups = min(a.span - stage * kMmaColumns, kMmaColumns) / 32;
    for (int group = 0; group < groups; ++group) work.add_group(memory, tile, group);
    if (next < stages) loader.keep(c, next_memory);
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const int row = loader.row + work.row + work.g + 8 * (v / 2);
    if (row >= a.rows) continue;
    const int exponent = s.sums == nullptr ? load(a.exponents + row) : 0;
#pragma unroll
    for (int j = 0; j < kMmaTiles; ++j) {
      const int output = loader.output + work.output + 8 * j + 2 * work.t + v % 2;
      if (output < s.outputs) write_output(s, row, output, work.sums[j][v], exponent);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kMmaThreads)
    product_mma(const ProductArguments<Pointer> a) {
  multiply_by_mma<ByteMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kMmaThreads)
    product_mma_half(const ProductArguments<Pointer> a) {
  multiply_by_mma<HalfMultiplier>(a);
}

}  // namespace logos::cuda
