// The matrix product of profile B: c = d * 2^24 has 27 bits, so a group's sum is taken as it is and
// multiplied in int64.
#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "sim/reference/product_kernels.h"
#include "sim/weights/store.h"

// As in exact_product.cc: one loop, compiled for each kind of instructions.
#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

constexpr int kWeightRows = 4;
constexpr int kActivationRows = 16;
constexpr std::int64_t kIntegerBytes = 2 * kGroup;  ///< of a group, weights or activations

struct PanelRow {
  std::int16_t weights[kMaxGroups * kGroup];
  std::int32_t multipliers[kMaxGroups];
};

/// Activations as they are: a group is 32 int16.
void prepare(const std::int16_t* a, std::int64_t columns, std::int64_t lead, std::int64_t groups,
             std::byte* to) {
  std::memset(to, 0, static_cast<std::size_t>(groups * kIntegerBytes));
  std::memcpy(to + lead * 2, a, static_cast<std::size_t>(columns) * sizeof(std::int16_t));
}

LOGOS_INLINE void pack_rows(const Tile& tile, int weight_rows, std::byte* panel) {
  for (int m = 0; m < weight_rows; ++m) {
    PanelRow& row = reinterpret_cast<PanelRow*>(panel)[m];
    const std::int8_t* q = tile.q + m * tile.q_pitch;
    for (std::int64_t k = 0; k < tile.groups * kGroup; ++k) row.weights[k] = q[k];
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      row.multipliers[g] = multiplier_of_half(tile.halves[m * tile.c_pitch + g]);
    }
  }
}

/// A group's sum is at most 32*128*32767 < 2^27.
LOGOS_INLINE std::int32_t dot(const std::int16_t* w, const std::int16_t* a) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < kGroup; ++k) sum += std::int32_t{w[k]} * std::int32_t{a[k]};
  return sum;
}

LOGOS_INLINE void multiply_rows(const Tile& tile, const std::byte* panel, std::int64_t first_group,
                                int weight_rows, int activation_rows) {
  for (int m = 0; m < weight_rows; ++m) {
    const PanelRow& row = reinterpret_cast<const PanelRow*>(panel)[m];
    const std::int16_t* w = row.weights + first_group * kGroup;
    const std::int32_t* c = row.multipliers + first_group;
    for (int r = 0; r < activation_rows; ++r) {
      const auto* a =
          reinterpret_cast<const std::int16_t*>(tile.activations + r * tile.activation_pitch);
      std::int64_t total = 0;
      for (std::int64_t g = 0; g < tile.groups; ++g) {
        total += std::int64_t{c[g]} * dot(w + g * kGroup, a + g * kGroup);
      }
      tile.sums[r * tile.sums_pitch + m] += total;
    }
  }
}

// No attribute stands in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define LOGOS_HALF_METHOD(name, attributes)                                                     \
  attributes void name##_pack(const Tile& tile, int weight_rows, std::byte* panel) {            \
    pack_rows(tile, weight_rows, panel);                                                        \
  }                                                                                             \
  attributes void name##_multiply(const Tile& tile, const std::byte* panel, std::int64_t first, \
                                  int weight_rows, int activation_rows) {                       \
    multiply_rows(tile, panel, first, weight_rows, activation_rows);                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

LOGOS_HALF_METHOD(plain, )
#if defined(__x86_64__)
LOGOS_HALF_METHOD(avx2, __attribute__((target("avx2"))))
LOGOS_HALF_METHOD(avx512, __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))))
#endif

}  // namespace

Methods half_methods(Instructions instructions) {
  Method method{};
  method.weight_rows = kWeightRows;
  method.activation_rows = kActivationRows;
  method.groups = kMaxGroups;
  method.block_rows = 64;
  method.panel_bytes = kWeightRows * std::int64_t{sizeof(PanelRow)};
  method.group_bytes = kIntegerBytes;
  method.prepare = prepare;
  method.pack = plain_pack;
  method.multiply = plain_multiply;
#if defined(__x86_64__)
  switch (instructions) {
    case Instructions::kPlain:
      break;
    case Instructions::kAvx2:
      method.pack = avx2_pack;
      method.multiply = avx2_multiply;
      break;
    case Instructions::kAvx512:
    case Instructions::kAvx512Vnni:
      method.pack = avx512_pack;
      method.multiply = avx512_multiply;
      break;
  }
#endif
  return {method, method, 1};
}

}  // namespace logos::reference
