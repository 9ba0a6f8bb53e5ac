#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"
#include "spatial/network/network.h"

namespace logos::spatial {

// What lowering makes of a program, and all that the chips know of it: stages (the embedding, each
// layer, the head), each in a rectangle of tiles with a schedule that every tile of it follows.
// spatial/README.md explains the whole; the meaning of each step stands at its opcode.

/// Boundaries of a range of units (matrix rows, columns, heads) shared out over the tiles of a
/// stage: tile i has [boundary[i], boundary[i + 1]). Units count in the whole model: of text chip 1
/// they begin where text chip 0's end.
struct Partition {
  std::vector<std::int32_t> boundary;

  Share of(std::int32_t tile) const {
    const auto i = static_cast<std::size_t>(tile);
    return {boundary[i], boundary[i + 1]};
  }
};

/// A matrix in the weight store and what of its columns a stage multiplies.
struct StageMatrix {
  std::string tensor;
  std::int32_t rows = 0;     ///< of the whole matrix
  std::int32_t columns = 0;  ///< of the whole matrix
  Share column_share;        ///< this text chip's; may cut a group of 32
};
/// A gain or a bias; every tile holds the elements that it needs.
struct StageVector {
  std::string tensor;
  std::int32_t size = 0;  ///< of the whole vector
};

/// A part of a tile's SRAM, the same in every tile of the stage. Where `slots` is more than one,
/// block of rows j has its own at offset + (j mod slots) * stride. Areas that are never alive
/// together in a slot may overlap (spatial/README.md, Buffers). Those of the leader alone come
/// after the others, the cache last.
struct Area {
  std::string name;
  std::int64_t offset = 0;  ///< from the begin of the tile's SRAM
  std::int64_t bytes = 0;   ///< of one slot
  std::int32_t slots = 1;
  std::int64_t stride = 0;  ///< from a slot to the next
  bool leader_only = false;
};

/// An area that packets fill. `expected[chunk][tile]` bytes a row make a chunk full; a buffer
/// without chunks has one. Reading before the chunk is full, and an arrival beyond it, is an error.
struct Buffer {
  std::int32_t area = -1;
  std::int64_t row_bytes = 0;  ///< from a row of a block to the next
  std::vector<std::vector<std::int64_t>> expected;
};

/// The buffers of a stage: indices into Stage::buffers, -1 where it has none. A row of a block
/// stands in them as follows (columns: of the whole row stream; counts are this text chip's).
struct Buffers {
  int entry = -1;  ///< at the leader: Heading, cosines and sines (head_columns / 2 binary32
                   ///< each; none in a head's stage), x (columns binary32; none in the embedding's)
  int row = -1;    ///< at every tile: the same, sent on by the leader
  int vectors = -1;  ///< head vectors gathered at their owners: binary32 [owned][head_columns]
  int queries = -1;  ///< int16 [group's query heads][head_columns], then an int8 exponent each, of
                     ///< every group that the tile serves, in order
  int peaks = -1;    ///< [tile of the group][query heads + 1] of every group: binary32 largest
                     ///< score of each query head, then int32 largest value exponent
  int partials =
      -1;  ///< [owned query head][tile of the group]: int64 L, then int64 A[head_columns]
  int attention = -1;   ///< binary32 [query heads][head_columns]
  int middle = -1;      ///< residual_1: binary32 [columns]
  int tile_peaks = -1;  ///< at the leader: uint32 [tile], the largest |x| bits of silu_times
  int chip_peaks = -1;  ///< at the leader: uint32 [text chip]; used twice a block in a split layer
  int chip_peaks_2 = -1;  ///< its second use (silu_times; the first is attention's)
  int peak = -1;          ///< uint32: the largest of attention over the chips (split only)
  int peak_2 = -1;        ///< uint32: of silu_times
  int hidden = -1;        ///< int16 [hidden columns], chunk by chunk: chunk c has the next
                          ///< expected[c][any tile] / 2 columns, up to a whole group of 32
  int addends = -1;       ///< split: int64 [text chip][own part of the tile's output rows] (output)
  int totals = -1;        ///< split: int64 [the tile's output rows]
  int addends_2 = -1;     ///< the same for down
  int totals_2 = -1;
  int joined = -1;  ///< split head: binary32 [text chip][the tile's logits there]; split embedding
                    ///< that is shown, at the leader: Heading [text chip], then x from where it is
};

/// What goes before a row's numbers: 16 bytes.
struct Heading {
  std::int32_t row = 0;       ///< of the cut, from 0
  std::int32_t position = 0;  ///< from 1; 0 where the cut has none
  std::int32_t token = 0;     ///< from 1; 0 where the cut has none
  std::int32_t reserved = 0;
};

enum class VectorKind : std::uint8_t { kQuery, kKey, kValue };

/// A head of q, k or v: its rows are made by the tiles that hold them (Stage::projection), gathered
/// at its owner, the tile with its first row, which norms, rotates and quantizes it.
struct HeadVector {
  VectorKind kind = VectorKind::kQuery;
  std::int32_t head = 0;   ///< of this text chip's query or key heads, from 0
  std::int32_t owner = 0;  ///< tile of the stage
};

/// The tiles of a key head. Position p (from 1) lies in tile first_tile + (p - 1) mod tiles, as
/// its entry (p - 1) / tiles.
struct Group {
  std::int32_t key_head = 0;  ///< of this text chip's, from 0
  std::int32_t first_tile = 0;
  std::int32_t tiles = 1;
  std::int32_t first_query = 0;  ///< of this text chip's query heads
  std::int32_t queries = 0;
  std::vector<HeadVector> vectors;  ///< queries, then the key, then the value
};

/// Indices into Program::operations, -1 where the program has none: for lines, faults and dumps.
struct VectorOperations {
  int product = -1;
  int bias = -1;
  int norm = -1;
  int rotation = -1;
  int block = -1;
};

enum class StageKind : std::uint8_t { kEmbedding, kLayer, kHead };

/// The steps of a schedule. Unless said otherwise a step works on all rows of the block of rows at
/// hand, and every tile does it on its own part. Arithmetic: design/arithmetic.md, bit for bit.
enum class Opcode : std::uint8_t {
  // Receive.
  kWaitEntry,   ///< leader: until its entry buffer is full for this block, and until every tile
                ///< of the stage is done with block j - slots
  kForward,     ///< leader: entry -> row of every tile (itself too); frees the entry and sends a
                ///< credit to every sender of it
  kWait,        ///< until `chunk` of `buffer` is full
  kRelease,     ///< `buffer` is empty again
  kWaitCache,   ///< until every key and value that rows up to this block's last push to this
                ///< tile has arrived
  kWaitCredit,  ///< until the next stage's leader has room for this block
  // The row stream.
  kEmbed,           ///< each row whose token's table row is held here: dequantized, sent to every
                    ///< `next`; with none it is the block's output, or goes to `joined` of every
                    ///< text chip's leader, as do the headings of each leader (so that no text chip
                    ///< runs ahead)
  kKeepOwn,         ///< own <- the tile's own columns (output partition) of x in `row`
  kNorm,            ///< operands <- quantized(rms_norm(x, vector)): x in `buffer`
  kQuantize,        ///< operands <- quantized(attention), at `peak` where the program is split
  kQuantizeHidden,  ///< quantized_at(silu_times, peak_2) -> hidden of every tile
  // Products; the array's own sums are int64 [row][output row].
  kProject,  ///< heads' rows of q, k, v (projection partition): sums, scaled, with bias -> the
             ///< owners' `vectors`
  kProduct,  ///< sums <- (chunk 0) or += matrix rows of `partition` times operands (or
             ///< `hidden`) of the columns [first_column, last_column)
  // Heads.
  kHeads,   ///< owner: norm, rotation, quantized; queries -> `queries` of the group, keys and
            ///< values -> the cache of the tile of the position
  kScores,  ///< scores of the tile's positions, its largest -> `peaks` of the group
  kWeigh,   ///< exp, weights, L and A over the tile's positions -> `partials` of the owners
  kFinish,  ///< owner: L, A summed, divided -> `attention` of every tile
  // After products.
  kScale,         ///< values <- scaled(sums)
  kAddOwn,        ///< own <- own + values by the residual rule
  kSendMiddle,    ///< own -> `middle` of every tile
  kSilu,          ///< hidden part <- silu(gate) * up of the sums of both; its peak -> tile_peaks
  kPeak,          ///< leader: largest of tile_peaks (silu_times) or of attention
  kExchangePeak,  ///< leader: peak -> chip_peaks of the other text chips' leaders
  kSendPeak,      ///< leader: largest of its own and chip_peaks -> peak of every tile
  // (To every text chip: its own part too, which is written at once and counts in `expected`.)
  kSendAddends,  ///< sums -> addends of the same tile of every text chip, of its portion
  kSendTotals,   ///< addends summed -> totals of the same tile of every text chip
  kTakeTotals,   ///< sums <- totals
  kSendJoined,   ///< logits -> joined of the same tile of every text chip
  // The end of a block.
  kSendNext,  ///< own (and, by the leader, headings and rotary rows) -> entry of `next`; of
              ///< several `next`, headings and rotary rows go to that of the own text chip
  kShow,  ///< own (row stream), values (logits) or `joined` (an embedding) is the block's output
  kDone   ///< tells the leader, where a later block needs the slot
};

/// One step. `buffer`, `vector`, `matrix`, `partition`: indices into the stage's tables.
struct Step {
  Opcode opcode = Opcode::kDone;
  int operation = -1;  ///< into Program::operations: the line it works for
  int buffer = -1;
  std::int32_t chunk = 0;  ///< of a product: 0 replaces the sums, others add to them
  int vector = -1;
  std::vector<int> matrices =
      {};                         ///< of a product (gate and up: sums one after the other), a scale
  int partition = -1;             ///< of the rows or columns that it makes, keeps, adds or sends
  std::int32_t first_column = 0;  ///< of the operands, [first, last): column_share's, from 0
  std::int32_t last_column = 0;
  bool second = false;  ///< of two like exchanges of a layer (silu_times, down) the second
};

inline constexpr std::int64_t kStepBytes = 32;      ///< of a step in a tile's SRAM
inline constexpr std::int64_t kAreaAlignment = 64;  ///< bytes

/// Bytes that scale a matrix row of so many groups of 32 columns: a multiplier a group and a scale
/// a row (profile A), or a binary16 a group (profile B).
inline std::int64_t scale_bytes(Profile profile, std::int64_t groups) {
  return profile == Profile::kB ? 2 * groups : groups + 4;
}

/// A stage on the chip that runs it. The rectangle's tiles count row by row; only the first `tiles`
/// of them work.
struct Stage {
  StageKind kind = StageKind::kLayer;
  Profile profile = Profile::kA;  ///< of its matrices
  std::int32_t layer = 0;         ///< from 1; 0: embedding or head
  std::int32_t text_chip = 0;     ///< of the program, from 0
  std::int32_t chip = 0;          ///< physical, from 0
  std::int32_t x = 0, y = 0, width = 0, height = 0;
  std::int32_t tiles = 0;
  std::int32_t leader = 0;  ///< tile of the stage
  std::int32_t rows = 0;    ///< rows of the cut that come through
  std::vector<int> next;    ///< stages that take its rows; one, or one a text chip; none: shown
  std::vector<int> peers;   ///< the same stage of every text chip, in order, itself included

  std::vector<StageMatrix> matrices;
  std::vector<StageVector> vectors;
  std::vector<Partition> partitions;
  std::vector<Area> areas;
  std::vector<Buffer> buffers;
  Buffers named;
  std::vector<Step> steps;
  // Of each tile's SRAM the stage has [base, base + used_bytes): what it holds for good (matrix
  // rows with their multipliers and scales, gains, biases), its schedule, its areas. A tile may
  // have several stages. An embedding whose table is the head's holds none.
  std::int64_t base = 0;
  std::int64_t held_bytes = 0;  ///< at most over the tiles
  std::int64_t used_bytes = 0;

  // A layer's attention.
  std::vector<Group> groups;
  int query_matrix = -1, key_matrix = -1, value_matrix = -1;  ///< into matrices
  int query_bias = -1, key_bias = -1, value_bias = -1;        ///< into vectors
  int query_gain = -1, key_gain = -1;
  Share query_heads, key_heads;  ///< this text chip's, of the model's
  int projection = -1;  ///< partition of all head vectors' rows, group by group, vector by vector
  std::int32_t cache_entries = 0;  ///< positions a tile holds of one cache at most
  VectorOperations query, key, value;
  int attended = -1;  ///< operation
  // Areas that no packet fills: indices into areas.
  int operands = -1, sums = -1, values = -1, own = -1, scores = -1, cache = -1;
};

/// One program over its chips.
struct Plan {
  std::int64_t rows = 0;  ///< of the cut
  std::int64_t columns = 0;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t head_columns = 0;
  std::int64_t query_heads = 0;  ///< of the model
  std::int64_t key_heads = 0;    ///< of the model
  double norm_epsilon = 0;
  std::int64_t window = 0;    ///< 0: none
  std::int64_t capacity = 0;  ///< positions of a cache
  bool is_chunk = false;      ///< all rows share a cache; else one a row
  bool has_tokens = false, has_positions = false, has_given = false;
  std::int64_t text_chips = 1;
  std::int64_t chips = 1;  ///< physical
  std::int32_t block_rows = 1;
  std::int32_t slots = 1;  ///< blocks of rows in a stage at once
  std::int64_t output_columns = 0;
  std::int64_t output_rows = 0;
  Rotary rotary;
  std::vector<Stage>
      stages;              ///< in the order of the program, text chip by text chip within a stage
  std::vector<int> first;  ///< the stages that the host feeds: one a text chip
  std::vector<std::int32_t> lines;   ///< of operations
  std::vector<std::int32_t> layers;  ///< of operations
  std::vector<std::string> names;    ///< of operations: the dump's
};

}  // namespace logos::spatial
