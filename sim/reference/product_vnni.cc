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
#define LOGOS_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

// A panel is 32 weight rows: two vectors whose lanes are weight rows. Group by group it holds, for
// each of the 8 quads of columns, `[16 rows][4 columns]` of each vector; then the multipliers as
// int32; then for every kTileGroups groups 32768 * sum of c*q of each row as int64.
constexpr int kVectors = 2;
constexpr int kLanes = 16;
constexpr int kWeightRows = kVectors * kLanes;
constexpr int kQuads = 8;
constexpr int kActivationRows = 6;

/// Sums of a group times c are at most 32*255*128*255 < 2^28.99 in a lane: 8 of them fit int32.
/// (8 * 32*255*128*255 = 2,130,739,200 < 2^31.)
constexpr std::int64_t kNarrowGroups = 8;
constexpr std::int64_t kTileGroups = 16;

constexpr std::int64_t kQBytes = kWeightRows * 32;  ///< of a group
constexpr std::int64_t kCBytes = kWeightRows * 4;   ///< of a group
constexpr std::int64_t kPanelC = kMaxGroups * kQBytes;
constexpr std::int64_t kPanelSums = kPanelC + kMaxGroups * kCBytes;
constexpr std::int64_t kPanelBytes = kPanelSums + kMaxGroups / kTileGroups * kWeightRows * 8;

/// As an instruction of its own: around the intrinsic g++ 12 keeps the sums in memory.
LOGOS_VNNI LOGOS_INLINE __m512i dpbusd(__m512i sums, __m512i a, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(w));
  return sums;
}

LOGOS_VNNI LOGOS_INLINE __m512i low_half(__m512i narrow) {
  return _mm512_cvtepi32_epi64(_mm512_castsi512_si256(narrow));
}
LOGOS_VNNI LOGOS_INLINE __m512i high_half(__m512i narrow) {
  return _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(narrow, 1));
}

/// The 32 weights of a row; a row past the last counts as zeros.
LOGOS_VNNI LOGOS_INLINE __m256i row_of(const std::int8_t* q, std::ptrdiff_t pitch, int row,
                                       int rows) {
  if (row >= rows) return _mm256_setzero_si256();
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + row * pitch));
}
/// Row i of a group beside row i + 8.
LOGOS_VNNI LOGOS_INLINE __m512i two_rows(const std::int8_t* q, std::ptrdiff_t pitch, int row,
                                         int rows) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(row_of(q, pitch, row, rows)),
                            row_of(q, pitch, row + 8, rows), 1);
}

/// One group of 16 rows, turned from rows of 8 quads to quads of 16 rows: 8x8 quads in each half.
LOGOS_VNNI LOGOS_INLINE void turn(const std::int8_t* q, std::ptrdiff_t pitch, int rows,
                                  __m512i (&quads)[kQuads]) {
  __m512i pairs[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const __m512i a = two_rows(q, pitch, i, rows);
    const __m512i b = two_rows(q, pitch, i + 1, rows);
    pairs[i] = _mm512_unpacklo_epi32(a, b);      // quads 0, 1 and 4, 5 of rows i, i + 1
    pairs[i + 1] = _mm512_unpackhi_epi32(a, b);  // quads 2, 3 and 6, 7
  }
  __m512i fours[8];  // [quad of 4][rows 0-3 or 4-7]: that quad and the one 4 further
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const __m512i* p = pairs + half * 4;
    fours[half] = _mm512_unpacklo_epi64(p[0], p[2]);
    fours[2 + half] = _mm512_unpackhi_epi64(p[0], p[2]);
    fours[4 + half] = _mm512_unpacklo_epi64(p[1], p[3]);
    fours[6 + half] = _mm512_unpackhi_epi64(p[1], p[3]);
  }
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
#pragma GCC unroll 4
  for (int quad = 0; quad < 4; ++quad) {
    quads[quad] = _mm512_permutex2var_epi64(fours[quad * 2], first, fours[quad * 2 + 1]);
    quads[quad + 4] = _mm512_permutex2var_epi64(fours[quad * 2], second, fours[quad * 2 + 1]);
  }
}

/// Packs 16 rows of a group; adds c * sum of q to `sums`.
LOGOS_VNNI LOGOS_INLINE void pack_group(const Tile& tile, std::int64_t g, int first_row, int rows,
                                        std::byte* to_q, std::int32_t* to_c, __m512i (&sums)[2]) {
  __m512i quads[kQuads];
  const std::int8_t* q = tile.q + first_row * tile.q_pitch + g * 32;
  turn(q, tile.q_pitch, rows, quads);
  __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (int quad = 0; quad < kQuads; ++quad) {
    _mm512_store_si512(to_q + quad * kWeightRows * 4, quads[quad]);
    sum = dpbusd(sum, _mm512_set1_epi8(1), quads[quad]);
  }
  const std::uint8_t* c = tile.c + first_row * tile.c_pitch + g;
  for (int lane = 0; lane < kLanes; ++lane) to_c[lane] = lane < rows ? c[lane * tile.c_pitch] : 0;
  sum = _mm512_mullo_epi32(sum, _mm512_load_si512(to_c));
  sums[0] = _mm512_add_epi64(sums[0], low_half(sum));
  sums[1] = _mm512_add_epi64(sums[1], high_half(sum));
}

LOGOS_VNNI void pack(const Tile& tile, int weight_rows, std::byte* panel) {
  for (std::int64_t begin = 0; begin < tile.groups; begin += kTileGroups) {
    const std::int64_t end = begin + kTileGroups < tile.groups ? begin + kTileGroups : tile.groups;
    std::byte* corrections = panel + kPanelSums + begin / kTileGroups * kWeightRows * 8;
    for (int v = 0; v < kVectors; ++v) {
      const int left = weight_rows - v * kLanes;
      const int rows = left < 0 ? 0 : left < kLanes ? left : kLanes;
      __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
      for (std::int64_t g = begin; g < end; ++g) {
        std::byte* to_c = panel + kPanelC + g * kCBytes + v * kLanes * 4;
        pack_group(tile, g, v * kLanes, rows, panel + g * kQBytes + v * kLanes * 4,
                   reinterpret_cast<std::int32_t*>(to_c), sums);
      }
      for (int half = 0; half < 2; ++half) {
        _mm512_store_si512(corrections + (v * 2 + half) * 64, _mm512_slli_epi64(sums[half], 15));
      }
    }
  }
}

/// Adds the products of one group, times c, to `scaled`: hi and lo of each vector and row.
template <int R>
LOGOS_VNNI LOGOS_INLINE void add_group(const std::byte* q, const std::byte* c,
                                       const std::byte* activations, std::ptrdiff_t pitch,
                                       __m512i* scaled) {
  __m512i hi[kVectors][R];
  __m512i lo[kVectors][R];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) hi[v][r] = lo[v][r] = _mm512_setzero_si512();
  }
  for (int quad = 0; quad < kQuads; ++quad) {
    __m512i w[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      w[v] = _mm512_load_si512(q + quad * kWeightRows * 4 + v * 64);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const auto* a = reinterpret_cast<const int*>(activations + r * pitch + quad * 8);
      const __m512i a_hi = _mm512_set1_epi32(a[0]);
      const __m512i a_lo = _mm512_set1_epi32(a[1]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        hi[v][r] = dpbusd(hi[v][r], a_hi, w[v]);
        lo[v][r] = dpbusd(lo[v][r], a_lo, w[v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m512i multiplier = _mm512_load_si512(c + v * 64);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      __m512i* to = scaled + (v * R + r) * 2;
      to[0] = _mm512_add_epi32(to[0], _mm512_mullo_epi32(hi[v][r], multiplier));
      to[1] = _mm512_add_epi32(to[1], _mm512_mullo_epi32(lo[v][r], multiplier));
    }
  }
}

template <int R>
LOGOS_VNNI void panel_tile(const Tile& tile, const std::byte* panel, std::int64_t first_group,
                           int weight_rows) {
  const std::byte* corrections = panel + kPanelSums + first_group / kTileGroups * kWeightRows * 8;
  __m512i total[kVectors * R][2];
  for (int i = 0; i < kVectors * R; ++i) {
    for (int half = 0; half < 2; ++half) {
      const __m512i correction = _mm512_load_si512(corrections + (i / R * 2 + half) * 64);
      total[i][half] = _mm512_sub_epi64(_mm512_setzero_si512(), correction);
    }
  }
  for (std::int64_t begin = 0; begin < tile.groups; begin += kNarrowGroups) {
    const std::int64_t end =
        begin + kNarrowGroups < tile.groups ? begin + kNarrowGroups : tile.groups;
    __m512i scaled[kVectors * R * 2];
    for (auto& sum : scaled) sum = _mm512_setzero_si512();
    for (std::int64_t g = begin; g < end; ++g) {
      add_group<R>(panel + (first_group + g) * kQBytes,
                   panel + kPanelC + (first_group + g) * kCBytes, tile.activations + g * kQuadBytes,
                   tile.activation_pitch, scaled);
    }
    for (int i = 0; i < kVectors * R; ++i) {
      const __m512i hi = scaled[i * 2];
      const __m512i lo = scaled[i * 2 + 1];
      total[i][0] = _mm512_add_epi64(total[i][0], _mm512_slli_epi64(low_half(hi), 8));
      total[i][1] = _mm512_add_epi64(total[i][1], _mm512_slli_epi64(high_half(hi), 8));
      total[i][0] = _mm512_add_epi64(total[i][0], low_half(lo));
      total[i][1] = _mm512_add_epi64(total[i][1], high_half(lo));
    }
  }
  const std::uint32_t rows_mask =
      weight_rows >= kWeightRows ? 0xFFFFFFFFu : (1u << weight_rows) - 1;
  for (int i = 0; i < kVectors * R; ++i) {
    for (int half = 0; half < 2; ++half) {
      const int lane = i / R * kLanes + half * 8;
      const auto mask = static_cast<__mmask8>(rows_mask >> lane);
      std::int64_t* to = tile.sums + i % R * tile.sums_pitch + lane;
      const __m512i before = _mm512_maskz_loadu_epi64(mask, to);
      _mm512_mask_storeu_epi64(to, mask, _mm512_add_epi64(before, total[i][half]));
    }
  }
}

void multiply(const Tile& tile, const std::byte* panel, std::int64_t first_group, int weight_rows,
              int activation_rows) {
  using Function = void (*)(const Tile&, const std::byte*, std::int64_t, int);
  static constexpr Function kTiles[kActivationRows] = {panel_tile<1>, panel_tile<2>, panel_tile<3>,
                                                       panel_tile<4>, panel_tile<5>, panel_tile<6>};
  kTiles[activation_rows - 1](tile, panel, first_group, weight_rows);
}

}  // namespace

Method vnni_panel_method() {
  Method method{};
  method.weight_rows = kWeightRows;
  method.activation_rows = kActivationRows;
  method.groups = kTileGroups;
  method.block_rows = 96;
  method.panel_bytes = kPanelBytes;
  method.group_bytes = kQuadBytes;
  method.prepare = prepare_quads;
  method.pack = pack;
  method.multiply = multiply;
  return method;
}

}  // namespace logos::reference

#endif
