#include "spatial/tile/tile_product.h"

#include <algorithm>

#include "program/check.h"
#include "spatial/tile/clones.h"

namespace logos::spatial {
namespace {

/// a = 256 * hi + lo with |hi| <= 128 and |lo| <= 128, and w = c * q with |w| <= 255 * 128: each
/// product is at most 4,177,920, and 512 of them stay below 2^31. So a chunk of 512 columns adds up
/// in int32.
constexpr std::int64_t kChunkGroups = 16;
constexpr std::int64_t kChunk = kChunkGroups * kGroup;

/// A chunk of a row of planes is `[hi kChunk][lo kChunk]`.
constexpr std::int64_t kPlanes = 2 * kChunk;

/// Rows of operands that share what is read of the weights.
constexpr int kTogether = 4;

/// A matrix row from the group on in which the share begins, and what multiplies it.
struct RowOfProduct {
  const std::int8_t* q;
  const std::uint8_t* c;   ///< profile A
  const std::uint16_t* d;  ///< profile B
  std::int64_t groups;
  const std::int16_t* planes;  ///< `[chunk][row][kPlanes]`
  std::int64_t rows;
};

/// sums[r] += the products of a chunk of a matrix row with R rows of planes.
template <int R>
inline __attribute__((always_inline)) void add_dots(const std::int16_t* w,
                                                    const std::int16_t* planes,
                                                    std::int64_t columns, std::int64_t* sums) {
  std::int32_t hi[R] = {};
  std::int32_t lo[R] = {};
  for (std::int64_t k = 0; k < columns; ++k) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      hi[r] += w[k] * planes[r * kPlanes + k];
      lo[r] += w[k] * planes[r * kPlanes + kChunk + k];
    }
  }
  for (int r = 0; r < R; ++r) sums[r] += std::int64_t{256} * hi[r] + lo[r];
}

/// sums[r] += the products of a matrix row with every row of operands.
LOGOS_SPATIAL_CLONES
void multiply(const RowOfProduct& row, std::int64_t* sums) {
  alignas(64) std::int16_t w[kChunk];
  const std::int16_t* planes = row.planes;
  for (std::int64_t begin = 0; begin < row.groups; begin += kChunkGroups) {
    const std::int64_t groups = std::min(kChunkGroups, row.groups - begin);
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto c = static_cast<std::int16_t>(row.c[begin + g]);
      const std::int8_t* q = row.q + (begin + g) * kGroup;
      for (std::int64_t i = 0; i < kGroup; ++i) {
        w[g * kGroup + i] = static_cast<std::int16_t>(c * q[i]);
      }
    }
    const std::int64_t columns = groups * kGroup;
    std::int64_t r = 0;
    for (; r + kTogether <= row.rows; r += kTogether, planes += kTogether * kPlanes) {
      add_dots<kTogether>(w, planes, columns, sums + r);
    }
    for (; r < row.rows; ++r, planes += kPlanes) add_dots<1>(w, planes, columns, sums + r);
  }
}

/// The same of profile B, whose multipliers are too wide to be taken into the weights: a group's
/// sum (below 2^27 in magnitude) at a time.
LOGOS_SPATIAL_CLONES
void multiply_halves(const RowOfProduct& row, std::int64_t* sums) {
  alignas(64) std::int16_t w[kGroup];
  for (std::int64_t g = 0; g < row.groups; ++g) {
    const std::int64_t c = multiplier_of_half(row.d[g]);
    for (std::int64_t i = 0; i < kGroup; ++i) w[i] = row.q[g * kGroup + i];
    const std::int16_t* planes =
        row.planes + g / kChunkGroups * row.rows * kPlanes + g % kChunkGroups * kGroup;
    for (std::int64_t r = 0; r < row.rows; ++r, planes += kPlanes) {
      std::int32_t hi = 0;
      std::int32_t lo = 0;
      for (std::int64_t i = 0; i < kGroup; ++i) {
        hi += w[i] * planes[i];
        lo += w[i] * planes[kChunk + i];
      }
      sums[r] += c * (256 * hi + lo);
    }
  }
}

/// The planes of columns that lie from `lead` on in the first group; the others count as zeros, so
/// that what the matrix holds there, padding too, does not matter.
LOGOS_SPATIAL_CLONES
void split(const std::int16_t* a, std::int64_t columns, std::int64_t lead, std::int64_t stride,
           std::int16_t* planes) {
  for (std::int64_t k = 0; k < columns;) {
    const std::int64_t at = lead + k;
    const std::int64_t count = std::min(columns - k, kChunk - at % kChunk);
    std::int16_t* to = planes + at / kChunk * stride + at % kChunk;
    for (std::int64_t i = 0; i < count; ++i) {
      const int lo = static_cast<std::int8_t>(a[k + i]);
      to[i] = static_cast<std::int16_t>((a[k + i] - lo) >> 8);
      to[kChunk + i] = static_cast<std::int16_t>(lo);
    }
    k += count;
  }
}

}  // namespace

void TileProduct::lay_out(Share columns, const Operands& operands) {
  const std::int64_t lead = columns.begin % kGroup;
  const std::int64_t chunks = (lead + columns.size() + kChunk - 1) / kChunk;
  planes_.assign(static_cast<std::size_t>(chunks * operands.rows * kPlanes), 0);
  for (std::int64_t r = 0; r < operands.rows; ++r) {
    split(operands.a + r * operands.pitch, columns.size(), lead, operands.rows * kPlanes,
          planes_.data() + r * kPlanes);
  }
}

void TileProduct::add(const MatrixView& matrix, Share rows, Share columns, const Operands& operands,
                      std::int64_t* sums, std::int64_t pitch) {
  CHECK(rows.begin >= 0 && rows.end <= matrix.rows);
  CHECK(columns.begin >= 0 && columns.end <= matrix.columns);
  if (columns.size() <= 0 || rows.size() <= 0) return;
  lay_out(columns, operands);
  const std::int64_t first_group = columns.begin / kGroup;
  const std::int64_t groups = (columns.end - 1) / kGroup + 1 - first_group;
  row_sums_.resize(static_cast<std::size_t>(operands.rows));
  for (std::int64_t n = rows.begin; n < rows.end; ++n) {
    std::fill(row_sums_.begin(), row_sums_.end(), 0);
    RowOfProduct row{matrix.q.data() + n * matrix.pitch + first_group * kGroup,
                     nullptr,
                     nullptr,
                     groups,
                     planes_.data(),
                     operands.rows};
    if (matrix.profile() == Profile::kB) {
      row.d = matrix.halves.data() + n * matrix.groups + first_group;
      multiply_halves(row, row_sums_.data());
    } else {
      row.c = matrix.multipliers.data() + n * matrix.groups + first_group;
      multiply(row, row_sums_.data());
    }
    for (std::int64_t r = 0; r < operands.rows; ++r) {
      sums[r * pitch + n - rows.begin] += row_sums_[static_cast<std::size_t>(r)];
    }
  }
}

}  // namespace logos::spatial
