#include "sim/reference/product_comparison.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

#include "program/check.h"

// g++ 12 takes the deliberately undefined values inside its own intrinsics for ours (GCC bug
// 105593).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LOGOS_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define LOGOS_AVX2 __attribute__((target("avx2")))
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

constexpr std::int64_t kLanes = 16;      ///< weight rows of a panel
constexpr std::int64_t kQuads = 8;       ///< of a group: 4 columns are one lane of vpdpbusd
constexpr std::int64_t kWiden = 8;       ///< groups whose scaled sums fit int32
constexpr std::int64_t kBlockRows = 96;  ///< activation rows whose planes stay in cache

/// Packed weights and byte planes as the VNNI loop reads them.
struct VnniProduct {
  const std::int8_t* packed;
  const std::int32_t* multipliers;
  const std::int64_t* corrections;
  const std::uint8_t* planes;  ///< `[activation row][quad][hi 4, lo 4]`
  std::int64_t columns;
  std::int64_t rows;
  std::int64_t* sums;
};

LOGOS_VNNI LOGOS_INLINE void add_widened(__m512i (&sums)[2], __m512i narrow, int shift) {
  const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(narrow));
  const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(narrow, 1));
  const auto count = static_cast<unsigned>(shift);
  sums[0] = _mm512_add_epi64(sums[0], _mm512_slli_epi64(low, count));
  sums[1] = _mm512_add_epi64(sums[1], _mm512_slli_epi64(high, count));
}

/// As an instruction of its own: around the intrinsic g++ 12 keeps the sums in memory.
LOGOS_VNNI LOGOS_INLINE __m512i dpbusd(__m512i sums, __m512i a, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(w));
  return sums;
}

/// Adds the products of one group of P panels and R activation rows to `scaled`, times c.
template <int P, int R>
LOGOS_VNNI LOGOS_INLINE void add_group(const VnniProduct& product, const std::int8_t* w0,
                                       const std::int32_t* c0, const std::uint8_t* a0,
                                       __m512i* scaled) {
  const std::int64_t pitch = kLanes * product.columns;
  const std::int64_t planes_pitch = product.columns * 2;
  __m512i hi[P][R];
  __m512i lo[P][R];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) hi[p][r] = lo[p][r] = _mm512_setzero_si512();
  }
  for (std::int64_t quad = 0; quad < kQuads; ++quad) {
    __m512i w[P];
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) w[p] = _mm512_loadu_si512(w0 + p * pitch + quad * kLanes * 4);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const auto* a = reinterpret_cast<const int*>(a0 + r * planes_pitch + quad * 8);
      const __m512i a_hi = _mm512_set1_epi32(a[0]);
      const __m512i a_lo = _mm512_set1_epi32(a[1]);
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) {
        hi[p][r] = dpbusd(hi[p][r], a_hi, w[p]);
        lo[p][r] = dpbusd(lo[p][r], a_lo, w[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) {
    const __m512i c = _mm512_loadu_si512(c0 + p * kLanes * (product.columns / kGroup));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      __m512i* to = scaled + (p * R + r) * 2;
      to[0] = _mm512_add_epi32(to[0], _mm512_mullo_epi32(hi[p][r], c));
      to[1] = _mm512_add_epi32(to[1], _mm512_mullo_epi32(lo[p][r], c));
    }
  }
}

/// P panels by R activation rows.
template <int P, int R>
LOGOS_VNNI void vnni_tile(const VnniProduct& product, std::int64_t panel, std::int64_t row) {
  const std::int64_t groups = product.columns / kGroup;
  const std::int8_t* w0 = product.packed + panel * kLanes * product.columns;
  const std::int32_t* c0 = product.multipliers + panel * kLanes * groups;
  const std::uint8_t* a0 = product.planes + row * product.columns * 2;
  __m512i total[P * R][2];
  for (auto& of_row : total) of_row[0] = of_row[1] = _mm512_setzero_si512();
  for (std::int64_t begin = 0; begin < groups; begin += kWiden) {
    __m512i scaled[P * R * 2];
    for (auto& sum : scaled) sum = _mm512_setzero_si512();
    for (std::int64_t g = begin; g < begin + kWiden; ++g) {
      add_group<P, R>(product, w0 + g * kQuads * kLanes * 4, c0 + g * kLanes, a0 + g * kGroup * 2,
                      scaled);
    }
    for (int i = 0; i < P * R; ++i) {
      add_widened(total[i], scaled[i * 2], 8);
      add_widened(total[i], scaled[i * 2 + 1], 0);
    }
  }
  for (int i = 0; i < P * R; ++i) {
    const std::int64_t n = (panel + i / R) * kLanes;
    for (int half = 0; half < 2; ++half) {
      const __m512i correction = _mm512_loadu_si512(product.corrections + n + half * 8);
      _mm512_storeu_si512(product.sums + (row + i % R) * product.rows + n + half * 8,
                          _mm512_sub_epi64(total[i][half], correction));
    }
  }
}

void vnni_sums(const VnniProduct& product, std::int64_t activation_rows) {
  const std::int64_t panels = product.rows / kLanes;
  for (std::int64_t block = 0; block < activation_rows; block += kBlockRows) {
    const std::int64_t end = std::min(activation_rows, block + kBlockRows);
    for (std::int64_t panel = 0; panel < panels; panel += 2) {
      std::int64_t row = block;
      for (; row + 6 <= end; row += 6) vnni_tile<2, 6>(product, panel, row);
      for (; row + 2 <= end; row += 2) vnni_tile<2, 2>(product, panel, row);
      for (; row < end; ++row) vnni_tile<2, 1>(product, panel, row);
    }
  }
}

/// M weight rows by R activation rows.
template <int M, int R>
LOGOS_AVX2 void avx2_tile(const MatrixView& weights, const std::int16_t* a, std::int64_t* sums,
                          std::int64_t n) {
  __m256i total[M][R];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) total[m][r] = _mm256_setzero_si256();
  }
  for (std::int64_t g = 0; g < weights.groups; ++g) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const auto* q =
          reinterpret_cast<const __m128i*>(weights.q.data() + (n + m) * weights.pitch + g * kGroup);
      const __m256i w0 = _mm256_cvtepi8_epi16(_mm_loadu_si128(q));
      const __m256i w1 = _mm256_cvtepi8_epi16(_mm_loadu_si128(q + 1));
      const __m256i c = _mm256_set1_epi32(
          weights.multipliers[static_cast<std::size_t>((n + m) * weights.groups + g)]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto* x = reinterpret_cast<const __m256i*>(a + r * weights.columns + g * kGroup);
        const __m256i s = _mm256_add_epi32(_mm256_madd_epi16(w0, _mm256_loadu_si256(x)),
                                           _mm256_madd_epi16(w1, _mm256_loadu_si256(x + 1)));
        total[m][r] = _mm256_add_epi64(total[m][r], _mm256_mul_epi32(s, c));
        total[m][r] = _mm256_add_epi64(total[m][r], _mm256_mul_epi32(_mm256_srli_epi64(s, 32), c));
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    for (int r = 0; r < R; ++r) {
      const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(total[m][r]),
                                         _mm256_extracti128_si256(total[m][r], 1));
      sums[r * weights.rows + n + m] = _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
    }
  }
}

}  // namespace

ComparisonProduct::ComparisonProduct(const MatrixView& weights, Instructions instructions)
    : weights_(weights), instructions_(instructions) {
  CHECK(weights.rows % (2 * kLanes) == 0 && weights.columns % (kWiden * kGroup) == 0);
  CHECK(instructions == Instructions::kAvx2 || instructions == Instructions::kAvx512Vnni);
  if (instructions == Instructions::kAvx512Vnni) pack();
}

void ComparisonProduct::pack() {
  packed_.resize(static_cast<std::size_t>(weights_.rows * weights_.columns));
  multipliers_.resize(static_cast<std::size_t>(weights_.rows * weights_.groups));
  corrections_.resize(static_cast<std::size_t>(weights_.rows));
  for (std::int64_t n = 0; n < weights_.rows; ++n) {
    const std::int64_t panel = n / kLanes;
    const std::int64_t lane = n % kLanes;
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < weights_.columns; ++k) {
      const auto q = weights_.q[static_cast<std::size_t>(n * weights_.pitch + k)];
      const auto c =
          weights_.multipliers[static_cast<std::size_t>(n * weights_.groups + k / kGroup)];
      const std::int64_t at =
          panel * kLanes * weights_.columns + k / 4 * kLanes * 4 + lane * 4 + k % 4;
      packed_[static_cast<std::size_t>(at)] = q;
      multipliers_[static_cast<std::size_t>((panel * weights_.groups + k / kGroup) * kLanes +
                                            lane)] = c;
      sum += std::int64_t{q} * c;
    }
    corrections_[static_cast<std::size_t>(n)] = sum * 32768;
  }
}

void ComparisonProduct::sums(std::span<const std::int16_t> a, std::int64_t activation_rows,
                             std::span<std::int64_t> sums) const {
  if (instructions_ == Instructions::kAvx512Vnni) {
    std::vector<std::uint8_t> planes(a.size() * 2);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto shifted = static_cast<std::uint32_t>(a[i] + 32768);
      planes[i / 4 * 8 + i % 4] = static_cast<std::uint8_t>(shifted >> 8);
      planes[i / 4 * 8 + 4 + i % 4] = static_cast<std::uint8_t>(shifted & 255);
    }
    vnni_sums({packed_.data(), multipliers_.data(), corrections_.data(), planes.data(),
               weights_.columns, weights_.rows, sums.data()},
              activation_rows);
    return;
  }
  for (std::int64_t block = 0; block < activation_rows; block += kBlockRows) {
    const std::int64_t end = std::min(activation_rows, block + kBlockRows);
    for (std::int64_t n = 0; n < weights_.rows; n += 2) {
      std::int64_t r = block;
      for (; r + 3 <= end; r += 3) {
        avx2_tile<2, 3>(weights_, a.data() + r * weights_.columns, sums.data() + r * weights_.rows,
                        n);
      }
      for (; r < end; ++r) {
        avx2_tile<2, 1>(weights_, a.data() + r * weights_.columns, sums.data() + r * weights_.rows,
                        n);
      }
    }
  }
}

}  // namespace logos::reference

#endif
