#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace logos::cuda {

// The argument structs of the kernels, plain bytes passed by value. Each is a template over its
// pointer type: a kernel takes `Arguments<Pointer>`; the launch plan holds the same struct with
// `Arguments<Planned>`, whose references are printed, saved, checked and resolved field by field
// (`members`, named by `kNames` in the same order).
//
// Words used below: `rows` are tokens of the cut; a block's bytes lie in two planes, `hi` (signed
// 8) and `lo` (unsigned 8), a = 256 * hi + lo, rows of `pitch` bytes, a multiple of 32, zero
// outside the value's own columns. `fault` points at the sticky word of one operation.

template <typename T>
using Pointer = T*;

/// Largest numbers that kernels hold in fixed arrays or registers.
inline constexpr int kSegments = 3;           ///< matrices that one product launch reads
inline constexpr int kHeadColumns = 256;      ///< of a head
inline constexpr int kQueryTile = 4;          ///< queries that a score thread holds at once
inline constexpr int kBlockQueries = 8;       ///< queries of a block of attention
inline constexpr int kSplitPositions = 64;    ///< the positions of a split are a multiple of this
inline constexpr int kStagedColumns = 12288;  ///< of a row in shared memory; wider rows need `out`

/// Rows of the embedding (arithmetic.md, section 4). Rows outside the chip's share become +0.
template <template <typename> class P>
struct EmbedArguments {
  P<const std::int32_t> tokens;  ///< `[rows]`, from 0
  P<const std::int8_t> q;
  P<const std::uint8_t> multipliers;  ///< as of a product
  P<const float> scales;
  P<float> out;  ///< `[rows, columns]`
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t pitch;
  std::int32_t groups;
  std::int32_t row_begin;  ///< the share, in rows of the matrix
  std::int32_t row_end;

  static constexpr const char* kNames =
      "tokens q multipliers scales out rows columns pitch groups row_begin row_end";
  auto members() {
    return std::tie(tokens, q, multipliers, scales, out, rows, columns, pitch, groups, row_begin,
                    row_end);
  }
};

/// What becomes of a row that a block of threads holds: optional binary32 values, an optional peak,
/// an optional quantized block (section 2).
template <template <typename> class P>
struct RowOutputs {
  P<float> out;           ///< `[rows, columns]` or null
  P<std::uint32_t> peak;  ///< `[rows]` or null: the largest magnitude bits
  P<std::int8_t> hi;      ///< `[rows, pitch]` or null, like `lo` and `exponents`
  P<std::uint8_t> lo;
  P<std::int8_t> exponents;  ///< `[rows]`
  P<std::uint32_t> fault;    ///< of the quantizing; null without a block
  std::int32_t pitch;
  std::int32_t lead;  ///< zero columns of the block before the first one

  static constexpr const char* kNames = "out peak hi lo exponents fault pitch lead";
  auto members() { return std::tie(out, peak, hi, lo, exponents, fault, pitch, lead); }
};

/// z = x + addend (the residual rule), RMS norm of z, its block (sections 5 and 7).
template <template <typename> class P>
struct NormArguments {
  P<const float> x;        ///< `[rows, columns]`
  P<const float> addend;   ///< likewise, or null: z = x
  P<const float> gain;     ///< `[columns]`
  P<float> sum;            ///< z, or null
  P<std::uint32_t> fault;  ///< of the norm's own quantizing
  RowOutputs<P> row;
  std::int32_t rows;
  std::int32_t columns;
  float epsilon;

  static constexpr const char* kNames =
      "x addend gain sum fault out peak hi lo exponents row_fault pitch lead rows columns epsilon";
  auto members() {
    return std::tuple_cat(std::tie(x, addend, gain, sum, fault), row.members(),
                          std::tie(rows, columns, epsilon));
  }
};

/// silu(gate) * up (section 7), and what becomes of it. `up` null: silu alone.
template <template <typename> class P>
struct SiluArguments {
  P<const float> gate;  ///< `[rows, columns]`
  P<const float> up;
  RowOutputs<P> row;
  std::int32_t rows;
  std::int32_t columns;

  static constexpr const char* kNames =
      "gate up out peak hi lo exponents fault pitch lead rows columns";
  auto members() {
    return std::tuple_cat(std::tie(gate, up), row.members(), std::tie(rows, columns));
  }
};

/// Quantizes rows at their own peak, or at the greatest of the peaks of `chips` chips.
template <template <typename> class P>
struct QuantizeArguments {
  P<const float> x;              ///< `[rows, columns]`
  P<const std::uint32_t> peaks;  ///< `[chips, peak_stride]` or null: the row's own
  RowOutputs<P> row;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t chips;
  std::int32_t peak_stride;  ///< words from one chip's peaks to the next's

  static constexpr const char* kNames =
      "x peaks out peak hi lo exponents fault pitch lead rows columns chips peak_stride";
  auto members() {
    return std::tuple_cat(std::tie(x, peaks), row.members(),
                          std::tie(rows, columns, chips, peak_stride));
  }
};

/// One matrix of a product: y = W x with or without a bias, or its exact sums alone (section 4).
template <template <typename> class P>
struct ProductSegment {
  P<const std::int8_t> q;  ///< the whole matrix, rows of `pitch` bytes
  /// Rows of `groups`: bytes with a scale a row (profile A), or binary16 and no scales (profile B).
  P<const std::uint8_t> multipliers;
  P<const float> scales;  ///< null in profile B
  P<const float> bias;    ///< of the whole matrix's rows, or null
  P<float> out;           ///< `[rows, outputs]`, or null
  P<float> raw;           ///< the same before the bias, or null
  P<std::int64_t> sums;   ///< `[rows, outputs]`: exact sums instead of `out`, or null
  std::int32_t first;     ///< the share's first row in the whole matrix
  std::int32_t outputs;   ///< rows of the share
  std::int32_t pitch;
  std::int32_t groups;

  static constexpr const char* kNames =
      "q multipliers scales bias out raw sums first outputs pitch groups";
  auto members() {
    return std::tie(q, multipliers, scales, bias, out, raw, sums, first, outputs, pitch, groups);
  }
};

/// One input block times up to three matrices. The block covers columns `column` to `column +
/// span` of each matrix; both are multiples of 32.
template <template <typename> class P>
struct ProductArguments {
  P<const std::int8_t> hi;  ///< `[rows, span]`
  P<const std::uint8_t> lo;
  P<const std::int8_t> exponents;  ///< `[rows]`
  ProductSegment<P> segments[kSegments];
  std::int32_t rows;
  std::int32_t column;
  std::int32_t span;
  std::int32_t columns;      ///< of the span that hold values; the others are zeros
  std::int32_t used;         ///< segments in use
  std::int32_t lanes;        ///< that share a weight row (dp4a): a power of two up to 32
  std::int32_t token_warps;  ///< of the four warps, how many split the rows (mma): 1, 2 or 4

  static constexpr const char* kNames =
      "hi lo exponents"
      " q1 multipliers1 scales1 bias1 out1 raw1 sums1 first1 outputs1 pitch1 groups1"
      " q2 multipliers2 scales2 bias2 out2 raw2 sums2 first2 outputs2 pitch2 groups2"
      " q3 multipliers3 scales3 bias3 out3 raw3 sums3 first3 outputs3 pitch3 groups3"
      " rows column span columns used lanes token_warps";
  auto members() {
    return std::tuple_cat(std::tie(hi, lo, exponents), segments[0].members(), segments[1].members(),
                          segments[2].members(),
                          std::tie(rows, column, span, columns, used, lanes, token_warps));
  }
};

/// Heads of one projection: optional norm, optional rotation, a block each (sections 5, 6, 2),
/// to a block `[rows, heads, head_pitch]` or into a cache at each row's position.
template <template <typename> class P>
struct HeadsSegment {
  P<const float> x;                ///< `[rows, heads, columns]`
  P<const float> gain;             ///< `[columns]` or null: no norm
  P<float> normed;                 ///< `[rows, heads, columns]` or null
  P<float> rotated;                ///< likewise
  P<std::int16_t> q;               ///< `[rows, heads, columns]` or null
  P<std::int8_t> exponents;        ///< `[rows, heads]` or null
  P<std::int16_t> cache;           ///< `[caches, positions, heads, head_pitch]` or null
  P<std::int8_t> cache_exponents;  ///< `[caches, positions, heads]`
  P<std::uint32_t> norm_fault;     ///< null without a norm
  P<std::uint32_t> fault;          ///< of the quantizing
  std::int32_t heads;
  std::int32_t rotate;  ///< 0 or 1

  static constexpr const char* kNames =
      "x gain normed rotated q exponents cache cache_exponents norm_fault fault heads rotate";
  auto members() {
    return std::tie(x, gain, normed, rotated, q, exponents, cache, cache_exponents, norm_fault,
                    fault, heads, rotate);
  }
};

template <template <typename> class P>
struct HeadsArguments {
  HeadsSegment<P> segments[kSegments];
  P<const float> cosines;  ///< `[rows, columns / 2]`
  P<const float> sines;
  P<const std::int32_t> positions;  ///< `[rows]`, from 0
  std::int32_t rows;
  std::int32_t columns;     ///< of a head
  std::int32_t head_pitch;  ///< the columns rounded up to 8
  std::int32_t used;        ///< segments in use
  std::int32_t capacity;    ///< positions of a cache; set by the run
  std::int32_t each;        ///< 1: each row has its own cache; 0: all share one
  float epsilon;

  static constexpr const char* kNames =
      "x1 gain1 normed1 rotated1 q1 exponents1 cache1 cache_exponents1 norm_fault1 fault1 heads1"
      " rotate1"
      " x2 gain2 normed2 rotated2 q2 exponents2 cache2 cache_exponents2 norm_fault2 fault2 heads2"
      " rotate2"
      " x3 gain3 normed3 rotated3 q3 exponents3 cache3 cache_exponents3 norm_fault3 fault3 heads3"
      " rotate3"
      " cosines sines positions rows columns head_pitch used capacity each epsilon";
  auto members() {
    return std::tuple_cat(segments[0].members(), segments[1].members(), segments[2].members(),
                          std::tie(cosines, sines, positions, rows, columns, head_pitch, used,
                                   capacity, each, epsilon));
  }
};

/// Attention of a tile of rows (section 6), in three launches: scores with the maxima of each split
/// of the positions; weights, their sums and the weighted values of each split; the rows.
template <template <typename> class P>
struct AttentionArguments {
  P<const std::int16_t> q;             ///< `[rows, heads, columns]`
  P<const std::int8_t> exponents;      ///< `[rows, heads]`
  P<const std::int16_t> keys;          ///< `[caches, capacity, key_heads, head_pitch]`
  P<const std::int8_t> key_exponents;  ///< `[caches, capacity, key_heads]`
  P<const std::int16_t> values;
  P<const std::int8_t> value_exponents;
  P<const std::int32_t> positions;  ///< `[rows]`, from 0: the last visible one
  P<float> scores;                  ///< `[tile, heads, span]`
  P<std::int32_t> weights;          ///< likewise, or null
  P<std::uint32_t> maxima;          ///< `[tile, heads, splits]`: ordered_bits of the largest score
  P<std::int32_t> tops;             ///< `[tile, key_heads, splits]`: the largest value exponent
  P<std::int64_t> weight_sums;      ///< `[tile, heads, splits]`
  P<std::int64_t> value_sums;       ///< `[tile, heads, splits, columns]`
  P<std::int64_t> totals;           ///< `[tile, heads]` or null: weight_sums over all splits
  RowOutputs<P> row;                ///< of the whole tensor `[rows, heads * columns]`
  std::int32_t rows;
  std::int32_t heads;
  std::int32_t key_heads;
  std::int32_t columns;     ///< of a head
  std::int32_t head_pitch;  ///< the columns rounded up to 8
  std::int32_t group;       ///< query heads of the model that read a key head
  std::int32_t first_head;  ///< in the model, of this chip's heads
  std::int32_t first_key;   ///< likewise of its key heads
  std::int32_t window;      ///< positions seen, counted back; 0: all
  std::int32_t each;        ///< 1: each row has its own cache
  std::int32_t split;       ///< positions of a split, a multiple of kSplitPositions
  std::int32_t row_tile;    ///< rows that a block takes together
  std::int32_t capacity;    ///< positions of a cache; set by the run, like all below
  std::int32_t splits;      ///< that cover the positions seen
  std::int32_t tile_first;  ///< first row of the tile
  std::int32_t tile_rows;

  static constexpr const char* kNames =
      "q exponents keys key_exponents values value_exponents positions scores weights maxima tops"
      " weight_sums value_sums totals out peak hi lo row_exponents fault pitch lead rows heads"
      " key_heads columns head_pitch group first_head first_key window each split row_tile capacity"
      " splits tile_first tile_rows";
  auto members() {
    return std::tuple_cat(
        std::tie(q, exponents, keys, key_exponents, values, value_exponents, positions, scores,
                 weights, maxima, tops, weight_sums, value_sums, totals),
        row.members(),
        std::tie(rows, heads, key_heads, columns, head_pitch, group, first_head, first_key, window,
                 each, split, row_tile, capacity, splits, tile_first, tile_rows));
  }
};

/// The residual rule alone: out = x + y, elementwise.
template <template <typename> class P>
struct AddArguments {
  P<const float> x;
  P<const float> y;
  P<float> out;
  std::int64_t count;

  static constexpr const char* kNames = "x y out count";
  auto members() { return std::tie(x, y, out, count); }
};

/// The two roundings of a product whose sums lie on `chips` chips: adds them exactly first.
template <template <typename> class P>
struct ScaleArguments {
  P<const std::int64_t> sums;      ///< `[chips, stride]`, each `[rows, columns]`
  P<const std::int8_t> exponents;  ///< `[rows]`
  P<const float> scales;           ///< `[columns]`, or null: profile B
  P<float> out;                    ///< `[rows, columns]`
  std::int64_t stride;             ///< elements from one chip's sums to the next's
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t chips;

  static constexpr const char* kNames = "sums exponents scales out stride rows columns chips";
  auto members() { return std::tie(sums, exponents, scales, out, stride, rows, columns, chips); }
};

/// Each row from the chip whose share of the embedding holds its token; shares by the floor rule.
template <template <typename> class P>
struct HeldArguments {
  P<const std::int32_t> tokens;  ///< `[rows]`, from 0
  P<const float> x;              ///< `[chips, stride]`, each `[rows, columns]`
  P<float> out;                  ///< `[rows, columns]`
  std::int64_t stride;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t chips;
  std::int32_t vocabulary;

  static constexpr const char* kNames = "tokens x out stride rows columns chips vocabulary";
  auto members() { return std::tie(tokens, x, out, stride, rows, columns, chips, vocabulary); }
};

/// Parts of rows put together in the chips' order; shares by the floor rule.
template <template <typename> class P>
struct JoinArguments {
  P<const float> x;  ///< `[chips, stride]`, each `[rows, the chip's columns]`
  P<float> out;      ///< `[rows, columns]`
  std::int64_t stride;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t chips;

  static constexpr const char* kNames = "x out stride rows columns chips";
  auto members() { return std::tie(x, out, stride, rows, columns, chips); }
};

}  // namespace logos::cuda
