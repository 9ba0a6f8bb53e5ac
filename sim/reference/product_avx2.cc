#if defined(__x86_64__)

#include <immintrin.h>

#include "sim/reference/product_kernels.h"

// Functions carry their instructions as attributes (no flags for the whole file), so that nothing
// of a shared header is compiled with them.
#define LOGOS_AVX2 __attribute__((target("avx2")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

// 2 x 3 tiles take 12 of the 16 registers for their sums.
constexpr int kWeightRows = 2;
constexpr int kActivationRows = 3;

LOGOS_AVX2 LOGOS_INLINE __m256i load(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}

/// 16 weights of a group as int16.
LOGOS_AVX2 LOGOS_INLINE __m256i widened(const std::int8_t* q, std::uint8_t c) {
  const __m256i q16 = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(q)));
  return _mm256_mullo_epi16(q16, _mm256_set1_epi16(c));
}

/// The lanes' sum in int64.
LOGOS_AVX2 LOGOS_INLINE std::int64_t total(__m256i sums) {
  const __m256i wide = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
                                        _mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
  const __m128i half =
      _mm_add_epi64(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  return _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
}

/// M weight rows by R activation rows, the weights from the matrix or from an expanded panel.
template <int M, int R, bool kFromPanel>
LOGOS_AVX2 LOGOS_INLINE void tile_sums(const Tile& tile, const std::int16_t* panel) {
  __m256i hi[M][R];
  __m256i lo[M][R];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) hi[m][r] = lo[m][r] = _mm256_setzero_si256();
  }
  for (std::int64_t g = 0; g < tile.groups; ++g) {
#pragma GCC unroll 2
    for (int half = 0; half < 32; half += 16) {
      __m256i w[M];
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        w[m] = kFromPanel ? load(panel + (m * kMaxGroups + g) * 32 + half)
                          : widened(tile.q + m * tile.q_pitch + g * 32 + half,
                                    tile.c[m * tile.c_pitch + g]);
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const std::int16_t* a = tile.planes + r * tile.planes_pitch + g * kPlaneColumns + half;
        const __m256i a_hi = load(a);
        const __m256i a_lo = load(a + 32);
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m) {
          hi[m][r] = _mm256_add_epi32(hi[m][r], _mm256_madd_epi16(w[m], a_hi));
          lo[m][r] = _mm256_add_epi32(lo[m][r], _mm256_madd_epi16(w[m], a_lo));
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      tile.sums[r * tile.sums_pitch + m] += 256 * total(hi[m][r]) + total(lo[m][r]);
    }
  }
}

template <int M, int R>
LOGOS_AVX2 void direct_tile(const Tile& tile) {
  tile_sums<M, R, false>(tile, nullptr);
}
template <int M, int R>
LOGOS_AVX2 void expanded_tile(const Tile& tile, const std::int16_t* panel) {
  tile_sums<M, R, true>(tile, panel);
}

void direct(const Tile& tile, int weight_rows, int activation_rows) {
  using Function = void (*)(const Tile&);
  static constexpr Function kTiles[kWeightRows][kActivationRows] = {
      {direct_tile<1, 1>, direct_tile<1, 2>, direct_tile<1, 3>},
      {direct_tile<2, 1>, direct_tile<2, 2>, direct_tile<2, 3>}};
  kTiles[weight_rows - 1][activation_rows - 1](tile);
}

LOGOS_AVX2 void expand(const Tile& tile, int weight_rows, std::int16_t* panel) {
  for (int m = 0; m < weight_rows; ++m) {
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      for (int half = 0; half < 32; half += 16) {
        const __m256i w =
            widened(tile.q + m * tile.q_pitch + g * 32 + half, tile.c[m * tile.c_pitch + g]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(panel + (m * kMaxGroups + g) * 32 + half),
                            w);
      }
    }
  }
}

void expanded(const Tile& tile, const std::int16_t* panel, int weight_rows, int activation_rows) {
  using Function = void (*)(const Tile&, const std::int16_t*);
  static constexpr Function kTiles[kWeightRows][kActivationRows] = {
      {expanded_tile<1, 1>, expanded_tile<1, 2>, expanded_tile<1, 3>},
      {expanded_tile<2, 1>, expanded_tile<2, 2>, expanded_tile<2, 3>}};
  kTiles[weight_rows - 1][activation_rows - 1](tile, panel);
}

}  // namespace

Kernels avx2_kernels() {
  Kernels kernels{};
  kernels.weight_rows = kWeightRows;
  kernels.direct_rows = kActivationRows;
  kernels.expanded_rows = kActivationRows;
  kernels.expand_from = 4;
  kernels.direct = direct;
  kernels.expand = expand;
  kernels.expanded = expanded;
  return kernels;
}

}  // namespace logos::reference

#endif
