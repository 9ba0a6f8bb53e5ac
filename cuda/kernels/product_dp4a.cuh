#pragma once

#include "cuda/kernels/product.cuh"

namespace logos::cuda {

inline constexpr int kDp4aThreads = 128;
inline constexpr int kDp4aOutputs = 2;  ///< weight rows of a thread

/// `lanes` lanes of a warp share kDp4aOutputs weight rows and kRows rows of the block: each lane
/// takes every lanes-th piece of 16 columns (half a group) and multiplies its sum by the group's
/// multiplier, which is the same as multiplying the whole group's. A weight byte is read once; a
/// thread has 2 x 4 loads of 16 bytes under way. grid.y: rows in tiles of kRows.
template <int kRows, typename Multiplier>
LOGOS_DEVICE void product_dp4a(const ProductArguments<Pointer>& a) {
  const int lanes = a.lanes;
  const int groups_of_lanes = kDp4aThreads / lanes;
  const SegmentBlock place =
      segment_block(a, static_cast<int>(blockIdx.x), groups_of_lanes * kDp4aOutputs);
  const ProductSegment<Pointer>& s = a.segments[place.segment];
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int output =
      (place.block * groups_of_lanes + static_cast<int>(threadIdx.x) / lanes) * kDp4aOutputs;
  const int row = static_cast<int>(blockIdx.y) * kRows;

  const std::int8_t* q[kDp4aOutputs];
  const typename Multiplier::Stored* multipliers[kDp4aOutputs];
#pragma unroll
  for (int o = 0; o < kDp4aOutputs; ++o) {
    const std::int64_t matrix_row = static_cast<std::int64_t>(s.first) + output + o;
    q[o] = s.q + matrix_row * s.pitch + a.column;
    multipliers[o] = multipliers_of<Multiplier>(s, matrix_row) + a.column / 32;
  }
  std::int64_t sums[kRows][kDp4aOutputs] = {};
  const int pieces = output < s.outputs ? a.span / 16 : 0;
#pragma unroll(kRows <= 2 ? 4 : 2)
  for (int piece = lane; piece < pieces; piece += lanes) {
    uint4 w[kDp4aOutputs];
    std::int32_t c[kDp4aOutputs];
#pragma unroll
    for (int o = 0; o < kDp4aOutputs; ++o) {
      const bool held = output + o < s.outputs;
      w[o] = held ? load_streaming_16(q[o] + 16 * piece) : make_uint4(0, 0, 0, 0);
      c[o] = held ? Multiplier::of(load<Stream::kWeights>(multipliers[o] + piece / 2)) : 0;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (row + r >= a.rows) continue;
      const std::int64_t at = static_cast<std::int64_t>(row + r) * a.span + 16 * piece;
      const uint4 hi = load(reinterpret_cast<const uint4*>(a.hi + at));
      const uint4 lo = load(reinterpret_cast<const uint4*>(a.lo + at));
#pragma unroll
      for (int o = 0; o < kDp4aOutputs; ++o) {
        sums[r][o] += static_cast<std::int64_t>(c[o]) * dot_16(w[o], hi, lo);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int o = 0; o < kDp4aOutputs; ++o) {
      if (row + r >= a.rows) continue;
      for (int other = lanes / 2; other > 0; other /= 2) {
        sums[r][o] += __shfl_xor_sync(kAllLanes, static_cast<long long>(sums[r][o]), other);
      }
      if (lane == 0 && output + o < s.outputs) {
        const int exponent = s.sums == nullptr ? load(a.exponents + row + r) : 0;
        write_output(s, row + r, output + o, sums[r][o], exponent);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_1(const ProductArguments<Pointer> a) {
  product_dp4a<1, ByteMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_2(const ProductArguments<Pointer> a) {
  product_dp4a<2, ByteMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_4(const ProductArguments<Pointer> a) {
  product_dp4a<4, ByteMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_8(const ProductArguments<Pointer> a) {
  product_dp4a<8, ByteMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_1_half(const ProductArguments<Pointer> a) {
  product_dp4a<1, HalfMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_2_half(const ProductArguments<Pointer> a) {
  product_dp4a<2, HalfMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_4_half(const ProductArguments<Pointer> a) {
  product_dp4a<4, HalfMultiplier>(a);
}
extern "C" __global__ void __launch_bounds__(kDp4aThreads)
    product_dp4a_8_half(const ProductArguments<Pointer> a) {
  product_dp4a<8, HalfMultiplier>(a);
}

}  // namespace logos::cuda
