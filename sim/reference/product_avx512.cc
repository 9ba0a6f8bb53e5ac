#if defined(__x86_64__)

#include <immintrin.h>

#include "sim/reference/product_kernels.h"

// g++ 12 takes the deliberately undefined values inside its own intrinsics for ours (GCC bug
// 105593).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// Functions carry their instructions as attributes (no flags for the whole file), so that nothing
// of a shared header is compiled with them.
#define LOGOS_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

// 4 x 3 tiles take 24 of the 32 registers for their sums.
constexpr int kWeightRows = 4;
constexpr int kActivationRows = 3;
constexpr std::int64_t kPanelPitch = kMaxGroups * 32;  ///< int16 of a weight row of a panel

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

/// c*q of a group as int16.
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

/// M weight rows by R activation rows, the weights from the matrix or from a panel of c*q.
template <class Add, int M, int R, bool kFromPanel>
LOGOS_AVX512 void tile_sums(const Tile& tile, const std::int16_t* panel) {
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
      const std::int8_t* q = tile.q + m * tile.q_pitch + g * 32;
      w[m] = kFromPanel ? _mm512_load_si512(panel + m * kPanelPitch + g * 32)
                        : widened(q, tile.c[m * tile.c_pitch + g]);
      // The next panel's rows begin where no prefetcher of the processor expects them.
      if (!kFromPanel) _mm_prefetch(q + kWeightRows * tile.q_pitch, _MM_HINT_T0);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const std::byte* a = tile.activations + r * tile.activation_pitch + g * kPlaneBytes;
      const __m512i a_hi = _mm512_load_si512(a);
      const __m512i a_lo = _mm512_load_si512(a + 64);
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

LOGOS_AVX512 void pack(const Tile& tile, int weight_rows, std::byte* panel) {
  auto* to = reinterpret_cast<std::int16_t*>(panel);
  for (int m = 0; m < weight_rows; ++m) {
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      _mm512_store_si512(to + m * kPanelPitch + g * 32,
                         widened(tile.q + m * tile.q_pitch + g * 32, tile.c[m * tile.c_pitch + g]));
    }
  }
}

template <class Add, bool kFromPanel>
void multiply(const Tile& tile, const std::byte* panel, std::int64_t first_group, int weight_rows,
              int activation_rows) {
  using Function = void (*)(const Tile&, const std::int16_t*);
  static constexpr Function kTiles[kWeightRows][kActivationRows] = {
      {tile_sums<Add, 1, 1, kFromPanel>, tile_sums<Add, 1, 2, kFromPanel>,
       tile_sums<Add, 1, 3, kFromPanel>},
      {tile_sums<Add, 2, 1, kFromPanel>, tile_sums<Add, 2, 2, kFromPanel>,
       tile_sums<Add, 2, 3, kFromPanel>},
      {tile_sums<Add, 3, 1, kFromPanel>, tile_sums<Add, 3, 2, kFromPanel>,
       tile_sums<Add, 3, 3, kFromPanel>},
      {tile_sums<Add, 4, 1, kFromPanel>, tile_sums<Add, 4, 2, kFromPanel>,
       tile_sums<Add, 4, 3, kFromPanel>}};
  const auto* from = reinterpret_cast<const std::int16_t*>(panel);
  kTiles[weight_rows - 1][activation_rows - 1](tile, kFromPanel ? from + first_group * 32 : from);
}

template <class Add, bool kFromPanel>
Method method() {
  Method method{};
  method.weight_rows = kWeightRows;
  method.activation_rows = kActivationRows;
  method.groups = kMaxGroups;
  method.block_rows = 64;
  method.panel_bytes = kFromPanel ? kWeightRows * kPanelPitch * 2 : 0;
  method.group_bytes = kPlaneBytes;
  method.prepare = prepare_planes;
  method.pack = pack;
  method.multiply = multiply<Add, kFromPanel>;
  return method;
}

}  // namespace

Methods avx512_methods() { return {method<Pairs, false>(), method<Pairs, true>(), 4}; }
Methods avx512_vnni_methods() { return {method<VnniPairs, false>(), vnni_panel_method(), 4}; }

}  // namespace logos::reference

#endif
