#pragma once

#include "cuda/kernels/rows.cuh"

namespace logos::cuda {

inline constexpr int kHeadWarps = 4;                      ///< of a block
inline constexpr int kLanePairs = kHeadColumns / 2 / 32;  ///< pairs that a lane holds

/// One warp a row and head, no barrier of the block: norm, rotation, block, cache. A lane holds the
/// pairs p = lane + 32 i: columns p and p + columns / 2.
struct HeadWarp {
  int half;
  int lane;
  float low[kLanePairs];
  float high[kLanePairs];

  /// Calls visit(pair, i) for each own pair.
  template <typename Visit>
  LOGOS_DEVICE void own_pairs(Visit visit) {
#pragma unroll
    for (int i = 0; i < kLanePairs; ++i) {
      const int pair = lane + 32 * i;
      if (pair < half) visit(pair, i);
    }
  }
  LOGOS_DEVICE std::uint32_t peak() {
    std::uint32_t highest = 0;
    own_pairs([&](int, int i) {
      highest = max(highest, max(magnitude_bits(low[i]), magnitude_bits(high[i])));
    });
    return warp_max(highest);
  }
  LOGOS_DEVICE void norm(const float* gain, float epsilon, std::uint32_t* fault) {
    const BlockScale scale = block_scale(peak());
    if (scale.fault && lane == 0) raise(fault);
    std::int64_t squares = 0;
    own_pairs([&](int, int i) {
      const std::int64_t p = quantized(low[i], scale);
      const std::int64_t r = quantized(high[i], scale);
      squares += p * p + r * r;
    });
    const float factor = norm_factor(warp_sum(squares), 2 * half, scale.exponent, epsilon);
    own_pairs([&](int pair, int i) {
      low[i] = normed(low[i], factor, load(gain + pair));
      high[i] = normed(high[i], factor, load(gain + pair + half));
    });
  }
  LOGOS_DEVICE void rotate(const float* cosines, const float* sines) {
    own_pairs([&](int pair, int i) {
      const float2 turned = rotated(low[i], high[i], load(cosines + pair), load(sines + pair));
      low[i] = turned.x;
      high[i] = turned.y;
    });
  }
  // Written in a generic lambda, into which the check does not look.
  LOGOS_DEVICE void write(float* out) {  // NOLINT(readability-non-const-parameter)
    if (out == nullptr) return;
    own_pairs([&](int pair, int i) {
      store(out + pair, low[i]);
      store(out + pair + half, high[i]);
    });
  }
  template <Stream kStream>
  LOGOS_DEVICE void write_block(std::int16_t* q, std::int8_t* exponent, const BlockScale& scale) {
    own_pairs([&](int pair, int i) {
      store<kStream>(q + pair, static_cast<std::int16_t>(quantized(low[i], scale)));
      store<kStream>(q + pair + half, static_cast<std::int16_t>(quantized(high[i], scale)));
    });
    if (lane == 0) store<kStream>(exponent, static_cast<std::int8_t>(scale.exponent));
  }
};

extern "C" __global__ void __launch_bounds__(32 * kHeadWarps)
    head_blocks(const HeadsArguments<Pointer> a) {
  int all_heads = 0;
  for (int i = 0; i < a.used; ++i) all_heads += a.segments[i].heads;
  const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * kHeadWarps + threadIdx.x / 32;
  const std::int64_t row = unit / all_heads;
  if (row >= a.rows) return;
  int head = static_cast<int>(unit % all_heads);
  int segment = 0;
  while (head >= a.segments[segment].heads) head -= a.segments[segment++].heads;
  const HeadsSegment<Pointer>& s = a.segments[segment];

  const int half = a.columns / 2;
  const std::int64_t block = row * s.heads + head;
  const std::int64_t at = block * a.columns;
  HeadWarp warp{half, static_cast<int>(threadIdx.x) % 32, {}, {}};
  warp.own_pairs([&](int pair, int i) {
    warp.low[i] = load(s.x + at + pair);
    warp.high[i] = load(s.x + at + pair + half);
  });
  if (s.gain != nullptr) {
    warp.norm(s.gain, a.epsilon, s.norm_fault);
    if (s.normed != nullptr) warp.write(s.normed + at);
  }
  if (s.rotate != 0) {
    warp.rotate(a.cosines + row * half, a.sines + row * half);
    if (s.rotated != nullptr) warp.write(s.rotated + at);
  }
  const BlockScale scale = block_scale(warp.peak());
  if (scale.fault && warp.lane == 0) raise(s.fault);
  if (s.q != nullptr) warp.write_block<Stream::kOther>(s.q + at, s.exponents + block, scale);
  if (s.cache != nullptr) {
    const std::int64_t cache = a.each != 0 ? row : 0;
    const std::int64_t place = (cache * a.capacity + load(a.positions + row)) * s.heads + head;
    warp.write_block<Stream::kKv>(s.cache + place * a.head_pitch, s.cache_exponents + place, scale);
  }
}

}  // namespace logos::cuda
