#include "sim/reference/product.h"

#include <algorithm>
#include <memory>
#include <new>

#include "program/check.h"
#include "program/divide_up.h"
#include "sim/reference/product_kernels.h"

namespace logos::reference {
namespace {

/// Memory at a multiple of 64 bytes: a vector load of it never crosses a cache line.
struct Release {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Aligned = std::unique_ptr<std::byte[], Release>;

Aligned aligned(std::int64_t bytes) {
  return Aligned(static_cast<std::byte*>(
      ::operator new[](static_cast<std::size_t>(bytes), std::align_val_t{64})));
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

/// What all pieces of one product share.
struct Product {
  const MatrixView& weights;
  Share rows;
  Groups groups;
  const std::byte* activations;
  std::int64_t activation_rows;
  std::int64_t* sums;
  Method method;

  Tile tile(std::int64_t n, std::int64_t r, std::int64_t group, std::int64_t count) const {
    const std::int64_t row = rows.begin + n;
    Tile tile{};
    tile.q = weights.q.data() + row * weights.pitch + (groups.first + group) * kGroup;
    const std::int64_t multiplier = row * weights.groups + groups.first + group;
    if (weights.profile() == Profile::kB) {
      tile.halves = weights.halves.data() + multiplier;
    } else {
      tile.c = weights.multipliers.data() + multiplier;
    }
    tile.q_pitch = weights.pitch;
    tile.c_pitch = weights.groups;
    tile.activation_pitch = groups.count * method.group_bytes;
    tile.activations = activations + r * tile.activation_pitch + group * method.group_bytes;
    tile.groups = count;
    tile.sums = sums + r * rows.size() + n;
    tile.sums_pitch = rows.size();
    return tile;
  }
};

/// The activation rows of a tile, so that the tiles of what is left are of like size.
std::int64_t even_share(std::int64_t left, std::int64_t most) {
  const std::int64_t tiles = divide_up(left, most);
  return divide_up(left, tiles);
}

/// One panel of weights by a block of activation rows, over up to kMaxGroups groups.
void multiply_panel(const Product& product, std::int64_t n, int weight_rows, Share block,
                    std::int64_t group, std::int64_t count, std::byte* panel) {
  const Method& method = product.method;
  if (method.panel_bytes > 0) {
    method.pack(product.tile(n, block.begin, group, count), weight_rows, panel);
  }
  for (std::int64_t g = 0; g < count; g += method.groups) {
    const std::int64_t groups = std::min(method.groups, count - g);
    for (std::int64_t r = block.begin; r < block.end;) {
      const std::int64_t rows = even_share(block.end - r, method.activation_rows);
      method.multiply(product.tile(n, r, group + g, groups), panel, g, weight_rows,
                      static_cast<int>(rows));
      r += rows;
    }
  }
}

/// Weight rows [begin, end) of the share. Where one tile takes all activation rows, each weight row
/// is read from end to end; else a block of activation rows over kMaxGroups groups stays in a
/// core's caches while all panels pass.
void multiply_piece(const Product& product, std::int64_t begin, std::int64_t end) {
  const Method& method = product.method;
  const Aligned panel = aligned(std::max<std::int64_t>(method.panel_bytes, 64));
  const std::int64_t all = product.groups.count;
  const auto panels = [&](Share block, std::int64_t first_group, std::int64_t end_group) {
    for (std::int64_t n = begin; n < end; n += method.weight_rows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(method.weight_rows, end - n));
      for (std::int64_t g = first_group; g < end_group; g += kMaxGroups) {
        multiply_panel(product, n, rows, block, g, std::min(kMaxGroups, end_group - g),
                       panel.get());
      }
    }
  };
  if (product.activation_rows <= method.activation_rows) {
    panels({0, product.activation_rows}, 0, all);
    return;
  }
  for (std::int64_t row = 0; row < product.activation_rows; row += method.block_rows) {
    const Share block{row, std::min(product.activation_rows, row + method.block_rows)};
    for (std::int64_t g = 0; g < all; g += kMaxGroups)
      panels(block, g, std::min(all, g + kMaxGroups));
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

  const Methods methods =
      weights.profile() == Profile::kB ? half_methods(instructions) : methods_of(instructions);
  const Method& method = activation_rows >= methods.many_from ? methods.many : methods.few;
  const Groups groups = groups_of(columns);
  const std::int64_t pitch = groups.count * method.group_bytes;
  const Aligned activations = aligned(activation_rows * pitch);
  for (std::int64_t r = 0; r < activation_rows; ++r) {
    method.prepare(a.data() + r * columns.size(), columns.size(), groups.lead, groups.count,
                   activations.get() + r * pitch);
  }
  const Product product{weights,         rows,        groups, activations.get(),
                        activation_rows, sums.data(), method};
  // A piece below 2^16 weights is not worth waking a thread for.
  const std::int64_t worth = (std::int64_t{1} << 16) / (groups.count * kGroup) + 1;
  const std::int64_t panels = divide_up(worth, method.weight_rows);
  workers.share(rows.size(), panels * method.weight_rows,
                [&](std::int64_t begin, std::int64_t end) { multiply_piece(product, begin, end); });
}

}  // namespace logos::reference
