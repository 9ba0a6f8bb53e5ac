#pragma once

// What the kernels of attention share: which queries and positions a block takes, and the products
// of 16-bit integers.

#include "cuda/kernels/arguments.h"
#include "cuda/kernels/arithmetic.cuh"

namespace logos::cuda {

/// The queries of a block: query heads that read key head `key` of rows `first_row` on, `heads` of
/// each row. Query i is head `first_head + i % heads` of row `first_row + i / heads`; all indices
/// are the chip's own. Positions [begin, end) are those of its split that any of its rows sees.
struct AttentionBlock {
  int key;
  int first_head;
  int heads;
  int first_row;
  int rows;
  int begin;
  int end;

  LOGOS_DEVICE int queries() const { return rows * heads; }
  LOGOS_DEVICE int row(int query) const { return first_row + query / heads; }
  LOGOS_DEVICE int head(int query) const { return first_head + query % heads; }
};

/// First position that a row at `position` sees.
LOGOS_DEVICE int first_visible(const AttentionArguments<Pointer>& a, int position) {
  return a.window == 0 ? 0 : max(0, position - a.window + 1);
}

/// grid: splits, key heads, tiles of rows.
LOGOS_DEVICE AttentionBlock attention_block(const AttentionArguments<Pointer>& a) {
  AttentionBlock block{};
  block.key = static_cast<int>(blockIdx.y);
  // A chip's first and last key head may be read by other chips' query heads as well.
  const int model_head = (a.first_key + block.key) * a.group;
  block.first_head = max(a.first_head, model_head) - a.first_head;
  block.heads = min(a.first_head + a.heads, model_head + a.group) - a.first_head - block.first_head;
  block.first_row = a.tile_first + static_cast<int>(blockIdx.z) * a.row_tile;
  block.rows = min(a.row_tile, a.tile_first + a.tile_rows - block.first_row);
  const int split_begin = static_cast<int>(blockIdx.x) * a.split;
  int lowest = a.capacity;
  int highest = -1;
  for (int r = 0; r < block.rows; ++r) {
    const int position = load(a.positions + block.first_row + r);
    lowest = min(lowest, first_visible(a, position));
    highest = max(highest, position);
  }
  block.begin = max(split_begin, lowest);
  block.end = min(split_begin + a.split, highest + 1);
  return block;
}

/// Element of `[tile, heads, splits]`.
LOGOS_DEVICE std::int64_t partial_at(const AttentionArguments<Pointer>& a, int row, int head,
                                     int split) {
  return (static_cast<std::int64_t>(row - a.tile_first) * a.heads + head) * a.splits + split;
}
/// Element of `[tile, key_heads, splits]`.
LOGOS_DEVICE std::int64_t top_at(const AttentionArguments<Pointer>& a, int row, int key,
                                 int split) {
  return (static_cast<std::int64_t>(row - a.tile_first) * a.key_heads + key) * a.splits + split;
}
/// First element of a row of `[tile, heads, span]`, span = splits * split.
LOGOS_DEVICE std::int64_t scores_at(const AttentionArguments<Pointer>& a, int row, int head) {
  return (static_cast<std::int64_t>(row - a.tile_first) * a.heads + head) * a.splits * a.split;
}
/// Block of `[caches, capacity, key_heads]`.
LOGOS_DEVICE std::int64_t cache_at(const AttentionArguments<Pointer>& a, int row, int position,
                                   int key) {
  const std::int64_t cache = a.each != 0 ? row : 0;
  return (cache * a.capacity + position) * a.key_heads + key;
}

/// Four 16-bit integers, two in a word, as a word of their high bytes and one of their low bytes.
LOGOS_DEVICE uint2 split_bytes(std::uint32_t first, std::uint32_t second) {
#ifdef __CUDA_ARCH__
  return make_uint2(__byte_perm(first, second, 0x7531), __byte_perm(first, second, 0x6420));
#else
  const auto even = [](std::uint32_t word) { return (word & 0xFF) | (word >> 8 & 0xFF00); };
  return make_uint2(even(first >> 8) | even(second >> 8) << 16, even(first) | even(second) << 16);
#endif
}
/// Eight of them: x, y the high bytes, z, w the low ones.
LOGOS_DEVICE uint4 split_bytes(const uint4& raw) {
  const uint2 first = split_bytes(raw.x, raw.y);
  const uint2 second = split_bytes(raw.z, raw.w);
  return make_uint4(first.x, second.x, first.y, second.y);
}

/// c + sum of four products of unsigned bytes.
LOGOS_DEVICE std::uint32_t dot_u8_u8(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, c);
#else
  host::current.counters.traffic.int8_macs += 4;
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xFF) * (b >> i & 0xFF);
  return c;
#endif
}

/// Exact sum of products of 16-bit integers a = 256 * hi + lo from products of their bytes; each
/// part stays within 32 bits up to 256 columns.
struct WideSum {
  std::int32_t high = 0;    ///< hi * hi
  std::int32_t middle = 0;  ///< hi * lo + lo * hi
  std::uint32_t low = 0;    ///< lo * lo

  /// Eight products: 8 dp4a.
  LOGOS_DEVICE void add(const uint4& a, const uint4& b) {
    high = dot_s8_s8(a.x, b.x, high);
    high = dot_s8_s8(a.y, b.y, high);
    middle = dot_u8_s8(b.z, a.x, middle);
    middle = dot_u8_s8(b.w, a.y, middle);
    middle = dot_u8_s8(a.z, b.x, middle);
    middle = dot_u8_s8(a.w, b.y, middle);
    low = dot_u8_u8(a.z, b.z, low);
    low = dot_u8_u8(a.w, b.w, low);
  }
  LOGOS_DEVICE std::int64_t value() const {
    return static_cast<std::int64_t>(high) * 65536 + static_cast<std::int64_t>(middle) * 256 + low;
  }
};

}  // namespace logos::cuda
