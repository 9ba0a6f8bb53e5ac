#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/reference/instructions.h"

/// The inner loops of the matrix product, one set for each kind of instructions.
///
/// c*q fits int16 (255*128 at most), so a vector of 32 weights of one group becomes 32 int16. An
/// activation is split as a = 256*hi + lo (hi signed, lo in [0, 255]), both int16, so that products
/// of pairs add up in int32: a pair of hi products is at most 2*255*128*128 < 2^23, one of lo
/// products 2*255*128*255 < 2^24, so a lane holds 128 of them. A group of 32 is one pair a lane of
/// 512 bits, two of 256 bits: after kMaxGroups groups the sums are flushed to int64.
namespace logos::reference {

inline constexpr std::int64_t kMaxGroups = 64;

/// Activations in planes: `[row][group][hi, lo][32]` int16, 128 bytes a group, 64-byte aligned.
/// Columns outside the share are zero there, so that what the matrix holds there does not matter.
inline constexpr std::int64_t kPlaneColumns = 64;

/// Where a tile of the product lies. Pitches are in elements.
struct Tile {
  const std::int8_t* q;        ///< of the first weight row, first group
  const std::uint8_t* c;       ///< likewise
  std::ptrdiff_t q_pitch;      ///< from one weight row to the next
  std::ptrdiff_t c_pitch;      ///< likewise
  const std::int16_t* planes;  ///< of the first activation row, first group
  std::ptrdiff_t planes_pitch;
  std::int64_t groups;        ///< up to kMaxGroups
  std::int64_t* sums;         ///< of the first activation row and weight row; added to
  std::ptrdiff_t sums_pitch;  ///< from one activation row to the next
};

struct Kernels {
  int weight_rows = 1;           ///< of a full panel
  int direct_rows = 1;           ///< activation rows that a call of `direct` takes
  int expanded_rows = 1;         ///< activation rows that a call of `expanded` takes
  std::int64_t expand_from = 1;  ///< activation rows from which expanding the weights pays

  /// Adds the sums of `weight_rows` x `activation_rows` (each from 1 to the full number).
  void (*direct)(const Tile& tile, int weight_rows, int activation_rows);
  /// c*q of a panel as int16 into `panel`: `[weight row][group][32]`, kMaxGroups*32 a weight row.
  void (*expand)(const Tile& tile, int weight_rows, std::int16_t* panel);
  /// As `direct`, with the weights from an expanded panel.
  void (*expanded)(const Tile& tile, const std::int16_t* panel, int weight_rows,
                   int activation_rows);
};

Kernels kernels_of(Instructions instructions);

Kernels plain_kernels();
Kernels avx2_kernels();         ///< only where the processor has AVX2
Kernels avx512_kernels();       ///< AVX-512 F, BW, VL, DQ
Kernels avx512_vnni_kernels();  ///< and VNNI

}  // namespace logos::reference
