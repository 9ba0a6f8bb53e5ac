#include "cuda/host/mma.h"

#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace logos::cuda::host {
namespace {

constexpr int kM = 16;
constexpr int kN = 8;
constexpr int kK = 32;

/// Products of pairs along k, so that one multiply-add instruction sums two of them: rows of A are
/// `[m][k]`; B is `[k / 2][n][k % 2]`.
struct Operands {
  alignas(64) std::int16_t a[kM][kK];
  alignas(64) std::int16_t b[kK / 2][kN][2];
};

/// PTX, "Matrix Fragments for mma.m16n8k32": with g = lane / 4 and t = lane % 4, register r of A
/// holds row g + 8 * (r % 2), columns 4 t + 16 * (r / 2) and the next three, lowest byte first;
/// register r of B holds column g, rows 4 t + 16 r and the next three.
void gather_a(const MmaOperands (&lanes)[32], bool a_unsigned, Operands& operands) {
  alignas(64) std::uint8_t bytes[kM][kK];
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int r = 0; r < 4; ++r) {
      std::memcpy(&bytes[g + 8 * (r % 2)][4 * t + 16 * (r / 2)], &lanes[lane].a[r], 4);
    }
  }
  const std::uint8_t* from = &bytes[0][0];
  std::int16_t* to = &operands.a[0][0];
  if (a_unsigned) {
    for (int i = 0; i < kM * kK; ++i) to[i] = from[i];
  } else {
    for (int i = 0; i < kM * kK; ++i) to[i] = static_cast<std::int8_t>(from[i]);
  }
}

void gather_b(const MmaOperands (&lanes)[32], int tile, Operands& operands) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int r = 0; r < 2; ++r) {
      std::int8_t bytes[4];
      std::memcpy(bytes, &lanes[lane].b[2 * tile + r], 4);
      const int pair = 2 * t + 8 * r;
      operands.b[pair][g][0] = bytes[0];
      operands.b[pair][g][1] = bytes[1];
      operands.b[pair + 1][g][0] = bytes[2];
      operands.b[pair + 1][g][1] = bytes[3];
    }
  }
}

/// product[m][n] = sum over k of a[m][k] * b[k][n]; at most 32 * 255 * 128 < 2^20.
void multiply(const Operands& operands, std::int32_t (&product)[kM][kN]) {
#if defined(__SSE2__)
  for (int m = 0; m < kM; ++m) {
    __m128i low = _mm_setzero_si128();
    __m128i high = _mm_setzero_si128();
    for (int pair = 0; pair < kK / 2; ++pair) {
      std::int32_t both;
      std::memcpy(&both, &operands.a[m][2 * pair], 4);
      const __m128i a = _mm_set1_epi32(both);
      const auto* b = reinterpret_cast<const __m128i*>(&operands.b[pair][0][0]);
      low = _mm_add_epi32(low, _mm_madd_epi16(a, _mm_load_si128(b)));
      high = _mm_add_epi32(high, _mm_madd_epi16(a, _mm_load_si128(b + 1)));
    }
    _mm_store_si128(reinterpret_cast<__m128i*>(&product[m][0]), low);
    _mm_store_si128(reinterpret_cast<__m128i*>(&product[m][4]), high);
  }
#else
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      std::int32_t sum = 0;
      for (int k = 0; k < kK; ++k) sum += operands.a[m][k] * operands.b[k / 2][n][k % 2];
      product[m][n] = sum;
    }
  }
#endif
}

std::int32_t wrapping_sum(std::int32_t x, std::int32_t y) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(y));
}

}  // namespace

void multiply_fragments(const MmaOperands (&lanes)[32], int tiles, bool a_unsigned) {
  Operands operands;
  alignas(64) std::int32_t product[kM][kN];
  gather_a(lanes, a_unsigned, operands);
  for (int tile = 0; tile < tiles; ++tile) {
    gather_b(lanes, tile, operands);
    multiply(operands, product);
    // Accumulators 0, 1: row g, columns 2 t and 2 t + 1; 2, 3: the same of row g + 8.
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4;
      const int t = lane % 4;
      std::int32_t* d = lanes[lane].accumulators + 4 * tile;
      d[0] = wrapping_sum(d[0], product[g][2 * t]);
      d[1] = wrapping_sum(d[1], product[g][2 * t + 1]);
      d[2] = wrapping_sum(d[2], product[g + 8][2 * t]);
      d[3] = wrapping_sum(d[3], product[g + 8][2 * t + 1]);
    }
  }
}

}  // namespace logos::cuda::host
