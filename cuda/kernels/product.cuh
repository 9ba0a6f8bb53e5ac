#pragma once

// What the kernels of the ladder of products share.

#include "cuda/kernels/arguments.h"
#include "cuda/kernels/arithmetic.cuh"

#ifdef __SSE2__
#ifndef __CUDACC__
#include <emmintrin.h>
#endif
#endif

namespace logos::cuda {

/// How the multipliers of profile A lie in memory, and what a kernel works with.
struct ByteMultiplier {
  using Stored = std::uint8_t;
  using Kept = std::uint8_t;
  LOGOS_DEVICE static Kept of(Stored c) { return c; }
};
/// Profile B: a binary16.
struct HalfMultiplier {
  using Stored = std::uint16_t;
  using Kept = std::int32_t;
  LOGOS_DEVICE static Kept of(Stored d) { return half_multiplier(d); }
};

/// Where the multipliers of row `matrix_row` begin.
template <typename Multiplier>
LOGOS_DEVICE const typename Multiplier::Stored* multipliers_of(const ProductSegment<Pointer>& s,
                                                               std::int64_t matrix_row) {
  return reinterpret_cast<const typename Multiplier::Stored*>(s.multipliers) +
         matrix_row * s.groups;
}

/// Block `block` of a launch as a block of one of its matrices.
struct SegmentBlock {
  int segment;
  int block;
};
LOGOS_DEVICE SegmentBlock segment_block(const ProductArguments<Pointer>& a, int block,
                                        int outputs_per_block) {
  int segment = 0;
  for (; segment + 1 < a.used; ++segment) {
    const int blocks = (a.segments[segment].outputs + outputs_per_block - 1) / outputs_per_block;
    if (block < blocks) break;
    block -= blocks;
  }
  return {segment, block};
}

/// Writes one output: its exact sum, or its value with or without the bias (section 4).
LOGOS_DEVICE void write_output(const ProductSegment<Pointer>& s, std::int64_t row, int output,
                               std::int64_t sum, int exponent) {
  const std::int64_t at = row * s.outputs + output;
  if (s.sums != nullptr) {
    store(s.sums + at, sum);
    return;
  }
  const std::int64_t matrix_row = static_cast<std::int64_t>(s.first) + output;
  const float scale = s.scales == nullptr ? kScaleB : load<Stream::kWeights>(s.scales + matrix_row);
  float y = product_value(sum, exponent, scale);
  if (s.raw != nullptr) store(s.raw + at, y);
  if (s.bias != nullptr) y = __fadd_rn(y, load<Stream::kWeights>(s.bias + matrix_row));
  store(s.out + at, y);
}

/// Sum of 16 products of weights and a = 256 * hi + lo: 8 dp4a. |sum| < 2^26.
LOGOS_DEVICE std::int32_t dot_16(const uint4& w, const uint4& hi, const uint4& lo) {
#if !defined(__CUDACC__) && defined(__SSE2__)
  host::current.counters.traffic.int8_macs += 32;
  const auto read = [](const uint4& from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&from));
  };
  const __m128i weights = read(w);
  const __m128i high = read(hi);
  const __m128i low = read(lo);
  const __m128i sign = _mm_cmpgt_epi8(_mm_setzero_si128(), weights);
  // A pair of bytes lo, hi is the 16-bit integer itself.
  __m128i sum = _mm_madd_epi16(_mm_unpacklo_epi8(weights, sign), _mm_unpacklo_epi8(low, high));
  sum = _mm_add_epi32(
      sum, _mm_madd_epi16(_mm_unpackhi_epi8(weights, sign), _mm_unpackhi_epi8(low, high)));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return _mm_cvtsi128_si32(sum);
#else
  std::int32_t high = dot_s8_s8(w.x, hi.x, 0);
  high = dot_s8_s8(w.y, hi.y, high);
  high = dot_s8_s8(w.z, hi.z, high);
  high = dot_s8_s8(w.w, hi.w, high);
  std::int32_t low = dot_u8_s8(lo.x, w.x, 0);
  low = dot_u8_s8(lo.y, w.y, low);
  low = dot_u8_s8(lo.z, w.z, low);
  low = dot_u8_s8(lo.w, w.w, low);
  return 256 * high + low;
#endif
}

}  // namespace logos::cuda
