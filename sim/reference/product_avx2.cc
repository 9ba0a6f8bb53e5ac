#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "sim/reference/product_kernels.h"
#include "sim/weights/store.h"

// Functions carry their instructions as attributes (no flags for the whole file), so that nothing
// of a shared header is compiled with them.
#define LOGOS_AVX2 __attribute__((target("avx2")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

constexpr int kWeightRows = 2;
constexpr int kActivationRows = 3;

/// Activations as they are: a group is 32 int16.
void prepare(const std::int16_t* a, std::int64_t columns, std::int64_t lead, std::int64_t groups,
             std::byte* to) {
  std::memset(to, 0, static_cast<std::size_t>(groups * kGroup) * sizeof(std::int16_t));
  std::memcpy(to + lead * 2, a, static_cast<std::size_t>(columns) * sizeof(std::int16_t));
}

/// M weight rows by R activation rows. A group's sum in a lane is at most 4*128*32767 < 2^24; its
/// product with c is taken and added in int64.
template <int M, int R>
LOGOS_AVX2 void tile_sums(const Tile& tile) {
  __m256i total[M][R];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) total[m][r] = _mm256_setzero_si256();
  }
  for (std::int64_t g = 0; g < tile.groups; ++g) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const std::int8_t* q = tile.q + m * tile.q_pitch + g * 32;
      const auto* halves = reinterpret_cast<const __m128i*>(q);
      const __m256i w0 = _mm256_cvtepi8_epi16(_mm_loadu_si128(halves));
      const __m256i w1 = _mm256_cvtepi8_epi16(_mm_loadu_si128(halves + 1));
      const __m256i c = _mm256_set1_epi32(tile.c[m * tile.c_pitch + g]);
      // The next panel's rows begin where no prefetcher of the processor expects them.
      _mm_prefetch(reinterpret_cast<const char*>(q + kWeightRows * tile.q_pitch), _MM_HINT_T0);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto* a =
            reinterpret_cast<const __m256i*>(tile.activations + r * tile.activation_pitch + g * 64);
        const __m256i s = _mm256_add_epi32(_mm256_madd_epi16(w0, _mm256_load_si256(a)),
                                           _mm256_madd_epi16(w1, _mm256_load_si256(a + 1)));
        const __m256i odd = _mm256_srli_epi64(s, 32);
        total[m][r] = _mm256_add_epi64(total[m][r], _mm256_mul_epi32(s, c));
        total[m][r] = _mm256_add_epi64(total[m][r], _mm256_mul_epi32(odd, c));
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(total[m][r]),
                                         _mm256_extracti128_si256(total[m][r], 1));
      tile.sums[r * tile.sums_pitch + m] += _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
    }
  }
}

void multiply(const Tile& tile, const std::byte*, std::int64_t, int weight_rows,
              int activation_rows) {
  using Function = void (*)(const Tile&);
  static constexpr Function kTiles[kWeightRows][kActivationRows] = {
      {tile_sums<1, 1>, tile_sums<1, 2>, tile_sums<1, 3>},
      {tile_sums<2, 1>, tile_sums<2, 2>, tile_sums<2, 3>}};
  kTiles[weight_rows - 1][activation_rows - 1](tile);
}

}  // namespace

Methods avx2_methods() {
  Method method{};
  method.weight_rows = kWeightRows;
  method.activation_rows = kActivationRows;
  method.groups = kMaxGroups;
  method.block_rows = 96;
  method.group_bytes = 64;
  method.prepare = prepare;
  method.multiply = multiply;
  return {method, method, 1};
}

}  // namespace logos::reference

#endif
