#include "program/check.h"
#include "sim/reference/product_kernels.h"

namespace logos::reference {
namespace {

/// The definition, group by group: any instructions of the compiler's choice.
void multiply(const Tile& tile, const std::byte*, std::int64_t, int weight_rows,
              int activation_rows) {
  for (int m = 0; m < weight_rows; ++m) {
    for (int r = 0; r < activation_rows; ++r) {
      std::int64_t total = 0;
      for (std::int64_t g = 0; g < tile.groups; ++g) {
        const std::int8_t* q = tile.q + m * tile.q_pitch + g * 32;
        const auto* a = reinterpret_cast<const std::int16_t*>(
            tile.activations + r * tile.activation_pitch + g * kPlaneBytes);
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

}  // namespace

Methods plain_methods() {
  Method method{};
  method.weight_rows = 4;
  method.activation_rows = 16;
  method.groups = kMaxGroups;
  method.block_rows = 64;
  method.group_bytes = kPlaneBytes;
  method.prepare = prepare_planes;
  method.multiply = multiply;
  return {method, method, 1};
}

Methods methods_of(Instructions instructions) {
  switch (instructions) {
    case Instructions::kPlain:
      return plain_methods();
#if defined(__x86_64__)
    case Instructions::kAvx2:
      return avx2_methods();
    case Instructions::kAvx512:
      return avx512_methods();
    case Instructions::kAvx512Vnni:
      return avx512_vnni_methods();
#else
    default:
      break;
#endif
  }
  CHECK_UNREACHABLE();
}

}  // namespace logos::reference
