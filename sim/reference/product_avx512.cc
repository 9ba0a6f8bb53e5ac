#if defined(__x86_64__)

#include <immintrin.h>

#include "sim/reference/product_kernels.h"

// g++ 12 takes the deliberately undefined values inside its own intrinsics for ours (GCC bug
// 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

// Functions carry their instructions as attributes (no flags for the whole file), so that nothing
// of a shared header is compiled with them.
#define LOGOS_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

constexpr int kWeightRows = 4;
constexpr int kDirectRows = 3;
constexpr int kExpandedRows = 3;

/// The two ways to add the products of int16 pairs.
struct Pairs {
  LOGOS_AVX512 static LOGOS_INLINE __m512i add(__m512i sum, __m512i w, __m512i a) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(w, a));
  }
};
/// As an instruction of its own: with VNNI among the attributes the compiler may use it where
/// `Pairs` must not.
struct VnniPairs {
  LOGOS_AVX512 static LOGOS_INLINE __m512i add(__m512i sum, __m512i w, __m512i a) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(w), "v"(a));
    return sum;
  }
};

LOGOS_AVX512 LOGOS_INLINE __m512i widened(const std::int8_t* q, std::uint8_t c) {
  const __m512i q16 = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(q)));
  return _mm512_mullo_epi16(q16, _mm512_set1_epi16(c));
}

/// 256*hi + lo over all lanes, in int64.
LOGOS_AVX512 LOGOS_INLINE std::int64_t total(__m512i hi, __m512i lo) {
  const __m512i hi64 = _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(hi)),
                                        _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(hi, 1)));
  const __m512i lo64 = _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(lo)),
                                        _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(lo, 1)));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_slli_epi64(hi64, 8), lo64));
}

/// M weight rows by R activation rows, the weights from the matrix or from an expanded panel.
template <class Add, int M, int R, bool kFromPanel>
LOGOS_AVX512 LOGOS_INLINE void tile_sums(const Tile& tile, const std::int16_t* panel) {
  __m512i hi[M][R];
  __m512i lo[M][R];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) hi[m][r] = lo[m][r] = _mm512_setzero_si512();
  }
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    __m512i w[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      w[m] = kFromPanel ? _mm512_load_si512(panel + (m * kMaxGroups + g) * 32)
                        : widened(tile.q + m * tile.q_pitch + g * 32, tile.c[m * tile.c_pitch + g]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const std::int16_t* a = tile.planes + r * tile.planes_pitch + g * kPlaneColumns;
      const __m512i a_hi = _mm512_load_si512(a);
      const __m512i a_lo = _mm512_load_si512(a + 32);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        hi[m][r] = Add::add(hi[m][r], w[m], a_hi);
        lo[m][r] = Add::add(lo[m][r], w[m], a_lo);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      tile.sums[r * tile.sums_pitch + m] += total(hi[m][r], lo[m][r]);
    }
  }
}

template <class Add, int M, int R>
LOGOS_AVX512 void direct_tile(const Tile& tile) {
  tile_sums<Add, M, R, false>(tile, nullptr);
}
template <class Add, int M, int R>
LOGOS_AVX512 void expanded_tile(const Tile& tile, const std::int16_t* panel) {
  tile_sums<Add, M, R, true>(tile, panel);
}

template <class Add>
void direct(const Tile& tile, int weight_rows, int activation_rows) {
  using Function = void (*)(const Tile&);
  static constexpr Function kTiles[kWeightRows][kDirectRows] = {
      {direct_tile<Add, 1, 1>, direct_tile<Add, 1, 2>, direct_tile<Add, 1, 3>},
      {direct_tile<Add, 2, 1>, direct_tile<Add, 2, 2>, direct_tile<Add, 2, 3>},
      {direct_tile<Add, 3, 1>, direct_tile<Add, 3, 2>, direct_tile<Add, 3, 3>},
      {direct_tile<Add, 4, 1>, direct_tile<Add, 4, 2>, direct_tile<Add, 4, 3>}};
  kTiles[weight_rows - 1][activation_rows - 1](tile);
}

LOGOS_AVX512 void expand(const Tile& tile, int weight_rows, std::int16_t* panel) {
  for (int m = 0; m < weight_rows; ++m) {
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      _mm512_store_si512(panel + (m * kMaxGroups + g) * 32,
                         widened(tile.q + m * tile.q_pitch + g * 32, tile.c[m * tile.c_pitch + g]));
    }
  }
}

template <class Add>
void expanded(const Tile& tile, const std::int16_t* panel, int weight_rows, int activation_rows) {
  using Function = void (*)(const Tile&, const std::int16_t*);
  static constexpr Function kTiles[kWeightRows][kExpandedRows] = {
      {expanded_tile<Add, 1, 1>, expanded_tile<Add, 1, 2>, expanded_tile<Add, 1, 3>},
      {expanded_tile<Add, 2, 1>, expanded_tile<Add, 2, 2>, expanded_tile<Add, 2, 3>},
      {expanded_tile<Add, 3, 1>, expanded_tile<Add, 3, 2>, expanded_tile<Add, 3, 3>},
      {expanded_tile<Add, 4, 1>, expanded_tile<Add, 4, 2>, expanded_tile<Add, 4, 3>}};
  kTiles[weight_rows - 1][activation_rows - 1](tile, panel);
}

template <class Add>
Kernels kernels() {
  Kernels kernels{};
  kernels.weight_rows = kWeightRows;
  kernels.direct_rows = kDirectRows;
  kernels.expanded_rows = kExpandedRows;
  kernels.expand_from = 4;
  kernels.direct = direct<Add>;
  kernels.expand = expand;
  kernels.expanded = expanded<Add>;
  return kernels;
}

}  // namespace

Kernels avx512_kernels() { return kernels<Pairs>(); }
Kernels avx512_vnni_kernels() { return kernels<VnniPairs>(); }

}  // namespace logos::reference

#endif
