#include "program/check.h"
#include "sim/reference/product_kernels.h"

namespace logos::reference {
namespace {

/// The definition, group by group: any instructions of the compiler's choice.
void direct(const Tile& tile, int weight_rows, int activation_rows) {
  for (int m = 0; m < weight_rows; ++m) {
    for (int r = 0; r < activation_rows; ++r) {
      std::int64_t total = 0;
      for (std::int64_t g = 0; g < tile.groups; ++g) {
        const std::int8_t* q = tile.q + m * tile.q_pitch + g * 32;
        const std::int16_t* a = tile.planes + r * tile.planes_pitch + g * kPlaneColumns;
        std::int32_t sum = 0;
        for (int k = 0; k < 32; ++k) {
          sum += std::int32_t{q[k]} * (std::int32_t{a[k]} * 256 + a[k + 32]);
        }
        total += std::int64_t{tile.c[m * tile.c_pitch + g]} * sum;
      }
      tile.sums[r * tile.sums_pitch + m] += total;
    }
  }
}

void expand(const Tile&, int, std::int16_t*) { CHECK(false); }
void expanded(const Tile&, const std::int16_t*, int, int) { CHECK(false); }

}  // namespace

Kernels plain_kernels() {
  Kernels kernels{};
  kernels.weight_rows = 4;
  kernels.direct_rows = 16;
  kernels.expand_from = INT64_MAX;
  kernels.direct = direct;
  kernels.expand = expand;
  kernels.expanded = expanded;
  return kernels;
}

Kernels kernels_of(Instructions instructions) {
  switch (instructions) {
    case Instructions::kPlain:
      return plain_kernels();
#if defined(__x86_64__)
    case Instructions::kAvx2:
      return avx2_kernels();
    case Instructions::kAvx512:
      return avx512_kernels();
    case Instructions::kAvx512Vnni:
      return avx512_vnni_kernels();
#else
    default:
      break;
#endif
  }
  CHECK(false);
}

}  // namespace logos::reference
