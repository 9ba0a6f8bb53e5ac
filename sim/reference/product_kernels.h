#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/reference/instructions.h"

/// The inner loops of the matrix product. A method lays activations and weights out as its loop
/// reads them; all methods give the same exact sums. Columns outside the share are zero in the
/// activations, so what the matrix holds there does not matter.
namespace logos::reference {

/// Groups of 32 columns after which every method's int32 sums are flushed to int64.
inline constexpr std::int64_t kMaxGroups = 64;

/// Where a tile of the product lies.
struct Tile {
  const std::int8_t* q;             ///< of the first weight row, first group
  const std::uint8_t* c;            ///< likewise; null in profile B
  const std::uint16_t* halves;      ///< likewise; null in profile A
  std::ptrdiff_t q_pitch;           ///< bytes from one weight row to the next
  std::ptrdiff_t c_pitch;           ///< likewise
  const std::byte* activations;     ///< as `prepare` laid them out: first row, first group
  std::ptrdiff_t activation_pitch;  ///< bytes from one row to the next
  std::int64_t groups;              ///< up to Method::groups
  std::int64_t* sums;               ///< of the first activation row and weight row; added to
  std::ptrdiff_t sums_pitch;        ///< from one activation row to the next
};

struct Method {
  int weight_rows = 1;           ///< of a panel
  int activation_rows = 1;       ///< of a tile
  std::int64_t groups = 1;       ///< of a tile
  std::int64_t block_rows = 1;   ///< activation rows that pass while a panel is kept
  std::int64_t panel_bytes = 0;  ///< of kMaxGroups groups; 0: weights are read from the matrix
  std::int64_t group_bytes = 0;  ///< of a group of an activation row

  /// Lays an activation row out: `columns` values whose first is column `lead` of the first group.
  void (*prepare)(const std::int16_t* a, std::int64_t columns, std::int64_t lead,
                  std::int64_t groups, std::byte* to);
  /// Lays the weights of a panel out, all groups of the tile (up to kMaxGroups).
  void (*pack)(const Tile& tile, int weight_rows, std::byte* panel);
  /// Adds the sums of `weight_rows` x `activation_rows`, each from 1 to the full number. The tile's
  /// groups begin at `first_group` of the panel, a multiple of Method::groups.
  void (*multiply)(const Tile& tile, const std::byte* panel, std::int64_t first_group,
                   int weight_rows, int activation_rows);
};

/// A method for few activation rows (the weights stream by) and one for many.
struct Methods {
  Method few;
  Method many;
  std::int64_t many_from = 1;  ///< activation rows from which `many` is the faster one
};

Methods methods_of(Instructions instructions);

Methods plain_methods();
Methods avx2_methods();         ///< only where the processor has AVX2
Methods avx512_methods();       ///< AVX-512 F, BW, VL, DQ
Methods avx512_vnni_methods();  ///< and VNNI

/// Activations in the planes of a = 256*hi + lo (hi signed, lo in [0, 255]) as int16: a group is
/// `[hi 32][lo 32]`, 128 bytes.
///
/// c*q fits int16 (255*128 at most), so products of pairs of int16 add up in int32: a pair of hi
/// products is at most 2*255*128*128 < 2^23, one of lo products 2*255*128*255 < 2^24, so a lane
/// holds 128 of them. A group is one pair a lane of 512 bits, two of 256 bits.
inline constexpr std::int64_t kPlaneBytes = 128;
void prepare_planes(const std::int16_t* a, std::int64_t columns, std::int64_t lead,
                    std::int64_t groups, std::byte* to);

/// Activations in the byte planes of a + 32768 = 256*hi + lo, both in [0, 255]: a group is 8 times
/// `[hi 4][lo 4]`, 64 bytes. Columns outside the share are those of a = 0. The 32768 is taken off
/// with the sums of the weights.
inline constexpr std::int64_t kQuadBytes = 64;
void prepare_quads(const std::int16_t* a, std::int64_t columns, std::int64_t lead,
                   std::int64_t groups, std::byte* to);

/// The method of profile B, whose multipliers are too wide to be taken into the weights.
Methods half_methods(Instructions instructions);

/// The method of `vpdpbusd` on byte planes, a lane a weight row (product_vnni.cc).
Method vnni_panel_method();

}  // namespace logos::reference
