#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"
#include "sim/weights/store.h"

namespace logos::spatial {

/// The sums that a tile's MAC array makes (design/arithmetic.md, section 4): exact, so that it does
/// not matter in what order. Keeps its working memory from call to call.
class TileProduct {
 public:
  /// Operands `[rows][pitch]`, of which the product takes as many columns as its share has.
  struct Operands {
    const std::int16_t* a = nullptr;
    std::int64_t rows = 0;
    std::int64_t pitch = 0;  ///< integers from a row to the next
  };

  /// Adds sum over k of c * q[n][k] * a[r][k - columns.begin], k in `columns` of the matrix, to
  /// `sums[r * pitch + n - rows.begin]` for every n in `rows`. `columns` may cut a group of 32.
  void add(const MatrixView& matrix, Share rows, Share columns, const Operands& operands,
           std::int64_t* sums, std::int64_t pitch);

 private:
  void lay_out(Share columns, const Operands& operands);

  std::vector<std::int16_t> planes_;  ///< of the operands: tile_product.cc
  std::vector<std::int64_t> row_sums_;
};

}  // namespace logos::spatial
