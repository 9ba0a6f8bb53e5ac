#include "sim/reference/product.h"

#include <algorithm>
#include <memory>
#include <new>

#include "program/check.h"
#include "sim/reference/product_kernels.h"

namespace logos::reference {
namespace {

/// Activation rows of a block: kMaxGroups groups of its planes (512 KB) stay in a core's
/// second-level cache while all weight rows pass.
constexpr std::int64_t kBlockRows = 64;

/// Memory at a multiple of 64 bytes: a vector load of the planes never crosses a cache line.
struct Release {
  void operator()(std::int16_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Aligned = std::unique_ptr<std::int16_t[], Release>;

Aligned aligned(std::int64_t elements) {
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(std::int16_t);
  return Aligned(static_cast<std::int16_t*>(::operator new[](bytes, std::align_val_t{64})));
}

/// The columns of a share as whole groups of the matrix.
struct Groups {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t lead = 0;  ///< columns of the first group that lie before the share
};

Groups groups_of(Share columns) {
  const std::int64_t first = columns.begin / kGroup;
  return {first, (columns.end + kGroup - 1) / kGroup - first, columns.begin - first * kGroup};
}

Aligned planes_of(std::span<const std::int16_t> a, std::int64_t rows, std::int64_t columns,
                  const Groups& groups) {
  const std::int64_t pitch = groups.count * kPlaneColumns;
  Aligned planes = aligned(rows * pitch);
  std::fill_n(planes.get(), rows * pitch, std::int16_t{0});
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int16_t* row = a.data() + r * columns;
    std::int16_t* to = planes.get() + r * pitch;
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::int64_t column = k + groups.lead;
      const std::int64_t at = column / kGroup * kPlaneColumns + column % kGroup;
      to[at] = static_cast<std::int16_t>(row[k] >> 8);
      to[at + kGroup] = static_cast<std::int16_t>(row[k] & 255);
    }
  }
  return planes;
}

/// What all pieces of one product share.
struct Product {
  const MatrixView& weights;
  Share rows;
  Groups groups;
  const std::int16_t* planes;
  std::int64_t activation_rows;
  std::int64_t* sums;
  Kernels kernels;

  Tile tile(std::int64_t n, std::int64_t r, std::int64_t group, std::int64_t count) const {
    const std::int64_t row = rows.begin + n;
    const std::int64_t planes_pitch = groups.count * kPlaneColumns;
    Tile tile{};
    tile.q = weights.q.data() + row * weights.pitch + (groups.first + group) * kGroup;
    tile.c = weights.multipliers.data() + row * weights.groups + groups.first + group;
    tile.q_pitch = weights.pitch;
    tile.c_pitch = weights.groups;
    tile.planes = planes + r * planes_pitch + group * kPlaneColumns;
    tile.planes_pitch = planes_pitch;
    tile.groups = count;
    tile.sums = sums + r * rows.size() + n;
    tile.sums_pitch = rows.size();
    return tile;
  }
};

/// Few activation rows: the weights stream through once, nothing is kept of them.
void direct_piece(const Product& product, std::int64_t begin, std::int64_t end) {
  const Kernels& kernels = product.kernels;
  for (std::int64_t n = begin; n < end; n += kernels.weight_rows) {
    const int weight_rows = static_cast<int>(std::min<std::int64_t>(kernels.weight_rows, end - n));
    for (std::int64_t g = 0; g < product.groups.count; g += kMaxGroups) {
      const std::int64_t count = std::min(kMaxGroups, product.groups.count - g);
      for (std::int64_t r = 0; r < product.activation_rows; r += kernels.direct_rows) {
        const auto left = product.activation_rows - r;
        const int rows = static_cast<int>(std::min<std::int64_t>(kernels.direct_rows, left));
        kernels.direct(product.tile(n, r, g, count), weight_rows, rows);
      }
    }
  }
}

/// Many activation rows: each panel of weights is expanded once for a block of them.
void expanded_piece(const Product& product, std::int64_t begin, std::int64_t end) {
  const Kernels& kernels = product.kernels;
  const Aligned panel = aligned(kernels.weight_rows * kMaxGroups * kGroup);
  for (std::int64_t block = 0; block < product.activation_rows; block += kBlockRows) {
    const std::int64_t block_end = std::min(product.activation_rows, block + kBlockRows);
    for (std::int64_t g = 0; g < product.groups.count; g += kMaxGroups) {
      const std::int64_t count = std::min(kMaxGroups, product.groups.count - g);
      for (std::int64_t n = begin; n < end; n += kernels.weight_rows) {
        const int weight_rows =
            static_cast<int>(std::min<std::int64_t>(kernels.weight_rows, end - n));
        kernels.expand(product.tile(n, block, g, count), weight_rows, panel.get());
        for (std::int64_t r = block; r < block_end; r += kernels.expanded_rows) {
          const int rows =
              static_cast<int>(std::min<std::int64_t>(kernels.expanded_rows, block_end - r));
          kernels.expanded(product.tile(n, r, g, count), panel.get(), weight_rows, rows);
        }
      }
    }
  }
}

}  // namespace

void exact_sums(const MatrixView& weights, Share rows, Share columns,
                std::span<const std::int16_t> a, std::int64_t activation_rows,
                std::span<std::int64_t> sums, Workers& workers, Instructions instructions) {
  CHECK(rows.begin >= 0 && rows.begin <= rows.end && rows.end <= weights.rows);
  CHECK(columns.begin >= 0 && columns.begin <= columns.end && columns.end <= weights.columns);
  CHECK(static_cast<std::int64_t>(a.size()) == activation_rows * columns.size());
  CHECK(static_cast<std::int64_t>(sums.size()) == activation_rows * rows.size());
  std::fill(sums.begin(), sums.end(), 0);
  if (sums.empty() || columns.size() == 0) return;

  const Groups groups = groups_of(columns);
  const Aligned planes = planes_of(a, activation_rows, columns.size(), groups);
  const Product product{
      weights, rows, groups, planes.get(), activation_rows, sums.data(), kernels_of(instructions)};
  const bool expand = activation_rows >= product.kernels.expand_from;
  // A piece below 2^16 weights is not worth waking a thread for.
  const std::int64_t worth = (std::int64_t{1} << 16) / (groups.count * kGroup) + 1;
  const std::int64_t panels =
      (worth + product.kernels.weight_rows - 1) / product.kernels.weight_rows;
  workers.share(rows.size(), panels * product.kernels.weight_rows,
                [&](std::int64_t begin, std::int64_t end) {
                  if (expand) {
                    expanded_piece(product, begin, end);
                  } else {
                    direct_piece(product, begin, end);
                  }
                });
}

}  // namespace logos::reference
