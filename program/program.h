#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/identity.h"
#include "program/model_spec.h"

namespace logos {

/// The words of the language that do something at run time (program/language.md).
enum class Word {
  kGiven,
  kEmbedded,
  kRmsNorm,
  kQuantized,
  kProduct,
  kWithBias,
  kHeads,
  kRotated,
  kPush,
  kAttended,
  kSilu,
  kMultiply,
  kAdd,
  kLastRow,
  kPeak,
  kQuantizedAt,
  kSums,
  kScaled,
  kGreatestOverChips,
  kSumOverChips,
  kJoinedOverChips,
  kHeldOverChips,
  kShow
};

enum class ValueKind { kRows, kHeads, kBlock, kSums, kPeak };

/// How a value lies over the chips of a split program. One chip: always kWhole.
/// kPart: each chip holds its own columns or heads. kPartial: each chip holds an addend of every
/// element (sums) or a candidate (peak). kHeld: each row is real on the one chip that holds it.
enum class Spread { kWhole, kPart, kPartial, kHeld };

/// A run of units (heads, rows or columns) that one chip holds: [begin, end), from 0.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Share&) const = default;
};

/// A value as one chip holds it. Rows `[rows, columns]` (heads = 1), Heads `[rows, heads,
/// columns]`, Block likewise (one exponent a row, or one a row and head when it comes of Heads),
/// Sums
/// `[rows, columns]`, Peak `[rows]`.
struct Value {
  ValueKind kind = ValueKind::kRows;
  Spread spread = Spread::kWhole;
  bool per_head = false;  ///< a Block of Heads
  std::int64_t rows = 0;
  std::int64_t heads = 1;    ///< this chip's
  std::int64_t columns = 0;  ///< this chip's (of a head, for Heads and per-head Blocks)
  std::int64_t first =
      0;  ///< index in the whole of this chip's first head (Heads) or column (Rows)
  std::int64_t whole = 0;  ///< heads (Heads) or columns (Rows) of the whole value
};

/// A matrix of the manifest and what this chip reads of it.
struct Matrix {
  std::string name;          ///< in the text: "query 3"
  std::string tensor;        ///< in the checkpoint: "model.layers.2.self_attn.q_proj.weight"
  std::int64_t rows = 0;     ///< of the whole matrix
  std::int64_t columns = 0;  ///< of the whole matrix
  Share row_share;           ///< what this chip holds
  Share column_share;        ///< may cut a group of 32
};

/// A gain or a bias of the manifest.
struct Vector {
  std::string name;  ///< "input norm 3", "query 3"
  std::string tensor;
  std::int64_t size = 0;  ///< of the whole vector
  Share share;            ///< what this chip holds (gains: all)
};

/// A cache of the manifest and the heads of it that this chip holds.
struct Cache {
  std::string name;                       ///< "keys 3"
  std::int64_t layer = 0;                 ///< from 1
  bool keys = false;                      ///< keys or values
  std::optional<std::int64_t> positions;  ///< null: the run's
  std::int64_t heads = 0;                 ///< of the whole cache
  std::int64_t head_columns = 0;
  bool one_for_each_row = false;
  Share head_share;
};

/// One operation of the unrolled program: a word applied to values. Nested calls of a line are
/// operations of their own, innermost first, with the same line.
struct Operation {
  Word word = Word::kGiven;
  std::int64_t layer = 0;      ///< from 1; 0 outside the layers
  int line = 0;                ///< of the placeholder form, from 1
  std::string name;            ///< in the dump's names (golden/README.md); "" where it has none
  std::vector<int> arguments;  ///< indices into Program::values
  int result = -1;             ///< index into Program::values; -1 for kPush (and kShow)
  int matrix = -1;             ///< into matrices: kEmbedded, kProduct, kSums
  int vector = -1;             ///< into vectors: the gain of kRmsNorm, the bias of kWithBias
  int keys = -1;          ///< into caches: kAttended; kPush uses `keys` for the cache it writes
  int cache_values = -1;  ///< into caches: kAttended
};

/// A checked program as one chip sees it, loops and functions unrolled. All chips of a split
/// program have the same operations in the same order; only the shares and sizes differ.
struct Program {
  Identity identity;
  std::int64_t chip = 0;  ///< from 0
  std::int64_t chips = 1;
  Profile profile = Profile::kA;
  std::int64_t rows = 0;  ///< of the cut: tokens of a chunk, sequences of a batch, or 1
  bool is_chunk = false;  ///< positions are consecutive, all rows share a cache
  double norm_epsilon = 0;
  Rotary rotary;
  std::int64_t head_columns = 0;
  std::int64_t vocabulary = 0;
  std::int64_t columns = 0;
  std::int64_t query_group = 1;  ///< query heads that read one key head
  std::optional<std::int64_t> window;
  std::optional<std::int64_t> context;  ///< cache positions of a decode step or batch
  std::vector<std::int64_t> tokens;     ///< the text's own inputs, from 1 (empty: the cut has none)
  std::vector<std::int64_t> positions;  ///< likewise
  std::vector<Matrix> matrices;
  std::vector<Vector> vectors;
  std::vector<Cache> caches;
  std::vector<Value> values;
  std::vector<Operation> operations;  ///< the last is kShow
  std::vector<std::string> lines;     ///< the placeholder form; lines[line - 1]
};

/// Parses, checks that the text is canonical and well typed, and unrolls it for one chip (from 0).
/// Throws Error at `file:line:column`. `file` names the text in errors. Does not ask whether
/// `author` wrote it: that is `genuine`.
Program read_program(std::string_view text, std::string_view file, std::int64_t chip = 0);

}  // namespace logos
