#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/reference/instructions.h"
#include "sim/weights/store.h"

namespace logos::reference {

/// The fixed loop that the reference's matrix product is measured against: the same exact sums by
/// the usual inference scheme, products of unscaled weights with one scaling a group. It is not
/// part of the library and no lane runs it; it exists so that a ratio can be taken in one run.
///
/// VNNI: `vpdpbusd` on the two byte planes of a + 32768 against weights packed ahead of time (not
/// timed) so that a lane is a weight row; group sums times c, widened every 8 groups, and the
/// 32768 taken off by sums of the weights known since packing. AVX2: `vpmaddwd` of the weights as
/// int16 with the activations, group sums times c by `vpmuldq`.
class ComparisonProduct {
 public:
  /// Takes rows in multiples of 32 and columns in multiples of 256.
  ComparisonProduct(const MatrixView& weights, Instructions instructions);

  /// `a` is `[activation_rows, columns]`, `sums` `[activation_rows, rows]`. One thread.
  void sums(std::span<const std::int16_t> a, std::int64_t activation_rows,
            std::span<std::int64_t> sums) const;

 private:
  void pack();

  MatrixView weights_;
  Instructions instructions_;
  std::vector<std::int8_t> packed_;        ///< `[panel of 16 rows][quad of columns][16][4]`
  std::vector<std::int32_t> multipliers_;  ///< `[panel][group][16]`
  std::vector<std::int64_t> corrections_;  ///< `[row]`: 32768 * sum of c*q
};

}  // namespace logos::reference
