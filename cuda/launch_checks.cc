// What keeps a damaged or hostile plan from taking a kernel outside of its buffers.

#include <fmt/format.h>

#include <bit>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "cuda/bounded.h"
#include "cuda/launches.h"
#include "program/divide_up.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

/// Checks one step. Each `check` holds the numbers of one kernel to its bounds and tells of the
/// extent of each pointer; a null pointer that the kernel would follow is told of, too.
class Checker {
 public:
  Checker(const Plan& plan, const RunShape& run, std::string_view where, const Need& need)
      : plan_(plan), run_(run), where_(where), need_(need) {}

  void check(const EmbedArguments<Planned>& a) {
    const PlanMatrix& matrix = matrix_of(a.q, a.multipliers, a.scales, a.pitch, a.groups);
    hold(a.rows == plan_.rows && plan_.has_tokens, "rows of an embedding");
    hold(a.columns == matrix.columns, "columns of an embedding");
    hold(a.row_begin <= a.row_end && a.row_end <= matrix.rows, "rows of an embedding's share");
    required(a.tokens, bytes({4, a.rows}));
    required(a.out, bytes({4, a.rows, a.columns}));
  }

  void check(const NormArguments<Planned>& a) {
    check_row(a.row, a.rows, a.columns, true);
    const std::int64_t all = bytes({4, a.rows, a.columns});
    required(a.x, all);
    optional(a.addend, all);
    optional(a.sum, all);
    required(a.gain, bytes({4, a.columns}));
    required(a.fault, 4);
  }

  void check(const SiluArguments<Planned>& a) {
    check_row(a.row, a.rows, a.columns, true);
    required(a.gate, bytes({4, a.rows, a.columns}));
    optional(a.up, bytes({4, a.rows, a.columns}));
  }

  void check(const QuantizeArguments<Planned>& a) {
    check_row(a.row, a.rows, a.columns, false);
    required(a.x, bytes({4, a.rows, a.columns}));
    if (a.peaks) {
      hold(a.chips >= 1 && a.row.hi, "peaks without chips or a block");
      required(a.peaks, sum({bytes({4, a.chips - 1, a.peak_stride}), bytes({4, a.rows})}));
    }
  }

  void check(const ProductStep& step) {
    const ProductArguments<Planned>& a = step.arguments;
    hold(a.rows >= 1 && a.used >= 1 && a.used <= kSegments, "segments of a product");
    hold(a.span % 32 == 0 && a.column % 32 == 0 && a.columns <= a.span, "columns of a product");
    hold(a.lanes >= 1 && a.lanes <= 32 && std::has_single_bit(static_cast<unsigned>(a.lanes)),
         "lanes of a product");
    hold(a.token_warps == 1 || a.token_warps == 2 || a.token_warps == 4, "warps of a product");
    block(a.hi, bytes({a.rows, a.span}));
    block(a.lo, bytes({a.rows, a.span}));
    required(a.exponents, a.rows);
    for (int i = 0; i < a.used; ++i) {
      const ProductSegment<Planned>& s = a.segments[i];
      const PlanMatrix& matrix = matrix_of(s.q, s.multipliers, s.scales, s.pitch, s.groups);
      hold(s.outputs >= 1 && std::int64_t{s.first} + s.outputs <= matrix.rows,
           "rows of a product's share");
      hold(std::int64_t{a.column} + a.span <= s.pitch, "columns of a product's share");
      const std::int64_t elements = bytes({a.rows, s.outputs});
      optional(s.sums, bytes({8, elements}));
      if (!s.sums) required(s.out, bytes({4, elements}));
      optional(s.raw, bytes({4, elements}));
      optional(s.bias, bytes({4, matrix.rows}));
    }
  }

  void check(const HeadsArguments<Planned>& a) {
    hold(a.rows == plan_.rows && a.used >= 1 && a.used <= kSegments, "segments of heads");
    head_shape(a.columns, a.head_pitch, a.each);
    for (int i = 0; i < a.used; ++i) check_heads(a, a.segments[i]);
  }

  void check(const AttentionArguments<Planned>& a) {
    hold(a.rows == plan_.rows && plan_.has_positions, "rows of attention");
    head_shape(a.columns, a.head_pitch, a.each);
    check_attention_shape(a);
    const std::int64_t queries = bytes({a.rows, a.heads});
    required(a.q, bytes({2, queries, a.columns}));
    required(a.exponents, queries);
    required(a.positions, bytes({4, a.rows}));
    cache(a.keys, a.key_exponents, Space::kKeys, a.key_heads, a.head_pitch);
    cache(a.values, a.value_exponents, Space::kValues, a.key_heads, a.head_pitch);
    required(a.scores, scratch_bytes(a, Scratch::kScores, run_.reach));
    required(a.maxima, scratch_bytes(a, Scratch::kMaxima, run_.reach));
    required(a.tops, scratch_bytes(a, Scratch::kTops, run_.reach));
    required(a.weight_sums, scratch_bytes(a, Scratch::kWeightSums, run_.reach));
    required(a.value_sums, scratch_bytes(a, Scratch::kValueSums, run_.reach));
    optional(a.weights, scratch_bytes(a, Scratch::kWeights, run_.reach));
    optional(a.totals, scratch_bytes(a, Scratch::kTotals, run_.reach));
    check_row(a.row, a.rows, bytes({a.heads, a.columns}), true);
  }

  void check(const AddArguments<Planned>& a) {
    hold(a.count >= 1, "elements of a sum");
    for (const Reference& pointer : {Reference(a.x), Reference(a.y), Reference(a.out)}) {
      required(pointer, bytes({4, a.count}));
    }
  }

  void check(const ScaleArguments<Planned>& a) {
    hold(a.rows >= 1 && a.columns >= 1 && a.chips >= 1, "elements of sums");
    const std::int64_t elements = bytes({a.rows, a.columns});
    required(a.sums, sum({bytes({8, a.chips - 1, a.stride}), bytes({8, elements})}));
    required(a.exponents, a.rows);
    hold(bool{a.scales} == (plan_.profile == Profile::kA), "scales of sums");
    optional(a.scales, bytes({4, a.columns}));
    required(a.out, bytes({4, elements}));
  }

  void check(const HeldArguments<Planned>& a) {
    hold(a.rows == plan_.rows && plan_.has_tokens && a.columns >= 1 && a.chips >= 1,
         "rows of held rows");
    hold(a.vocabulary == plan_.vocabulary && a.vocabulary >= 1, "vocabulary of held rows");
    const std::int64_t elements = bytes({a.rows, a.columns});
    required(a.tokens, bytes({4, a.rows}));
    required(a.x, sum({bytes({4, a.chips - 1, a.stride}), bytes({4, elements})}));
    required(a.out, bytes({4, elements}));
  }

  void check(const JoinArguments<Planned>& a) {
    hold(a.rows >= 1 && a.columns >= 1 && a.chips >= 1, "elements of joined rows");
    // A part is at most the share rounded up wide.
    const std::int64_t widest = divide_up(std::int64_t{a.columns}, a.chips);
    required(a.x, sum({bytes({4, a.chips - 1, a.stride}), bytes({4, a.rows, widest})}));
    required(a.out, bytes({4, a.rows, a.columns}));
  }

 private:
  void hold(bool condition, std::string_view what) const {
    if (!condition) throw Error(where_, fmt::format("damaged plan: {} out of range", what));
  }

  static std::int64_t bytes(std::initializer_list<std::int64_t> factors) {
    return bounded_product(factors);
  }
  static std::int64_t sum(std::initializer_list<std::int64_t> parts) {
    std::int64_t all = 0;
    for (const std::int64_t part : parts) all += part;  // a few of 2^60 at most
    return all;
  }

  void required(const Reference& reference, std::int64_t extent) const {
    need_(reference, extent, true);
  }
  void optional(const Reference& reference, std::int64_t extent) const {
    // What only an observer wants is null where there is none: the run knows.
    if (reference) need_(reference, extent, false);
  }

  /// A plane of bytes that kernels read 16 at a time.
  void block(const Reference& reference, std::int64_t extent) const {
    hold(reference.offset % 16 == 0, "alignment of a block");
    required(reference, extent);
  }

  void check_row(const RowOutputs<Planned>& row, std::int64_t rows, std::int64_t columns,
                 bool staged) const {
    hold(rows >= 1 && columns >= 0, "rows");
    // A launch beyond the limit of dynamic shared memory is refused by the machine; a row too wide
    // for it waits in `out`, which must be there then.
    if (staged && columns > kStagedColumns) {
      hold(bool{row.out} && row.out.space != Space::kObserved, "a row too wide for shared memory");
    }
    hold(columns <= std::numeric_limits<std::int32_t>::max(), "columns");
    optional(row.out, bytes({4, rows, columns}));
    optional(row.peak, bytes({4, rows}));
    hold(row.lead < 32, "zeros before a block");
    if (!row.hi) return;
    hold(row.pitch % 32 == 0 && std::int64_t{row.lead} + columns <= row.pitch, "width of a block");
    block(row.hi, bytes({rows, row.pitch}));
    block(row.lo, bytes({rows, row.pitch}));
    required(row.exponents, rows);
    required(row.fault, 4);
  }

  /// The matrix of a launch, whose layout must be the store's.
  const PlanMatrix& matrix_of(const Reference& q, const Reference& multipliers,
                              const Reference& scales, std::int64_t pitch,
                              std::int64_t groups) const {
    const bool b = plan_.profile == Profile::kB;  // binary16 multipliers, no scales
    hold(q.space == Space::kMatrix && multipliers.space == Space::kMultipliers &&
             scales.space == (b ? Space::kNull : Space::kScales),
         "kind of a matrix");
    hold(q.index == multipliers.index && (b || q.index == scales.index) &&
             static_cast<std::size_t>(q.index) < plan_.matrices.size(),
         "number of a matrix");
    hold(q.offset == 0 && multipliers.offset == 0 && scales.offset == 0, "begin of a matrix");
    const PlanMatrix& matrix = plan_.matrices[static_cast<std::size_t>(q.index)];
    hold(pitch == (matrix.columns + 31) / 32 * 32 && groups == pitch / 32, "width of a matrix");
    required(q, bytes({matrix.rows, pitch}));
    required(multipliers, bytes({matrix.rows, groups, b ? 2 : 1}));
    optional(scales, bytes({4, matrix.rows}));
    return matrix;
  }

  void head_shape(std::int64_t columns, std::int64_t pitch, std::int32_t each) const {
    hold(columns >= 2 && columns <= kHeadColumns && columns % 2 == 0, "columns of a head");
    hold(pitch == (columns + 7) / 8 * 8, "width of a head");
    hold(each == (plan_.each_row_caches ? 1 : 0), "caches of rows");
  }

  void cache(const Reference& blocks, const Reference& exponents, Space kind, std::int64_t heads,
             std::int64_t pitch) const {
    hold(blocks.space == kind && static_cast<std::size_t>(blocks.index) < plan_.caches.size() &&
             blocks.offset == 0 && exponents.offset == 0 && exponents.index == blocks.index,
         "number of a cache");
    hold(exponents.space == (kind == Space::kKeys ? Space::kKeyExponents : Space::kValueExponents),
         "kind of a cache");
    hold(plan_.caches[static_cast<std::size_t>(blocks.index)].heads == heads, "heads of a cache");
    const std::int64_t count = bytes({plan_.each_row_caches ? plan_.rows : 1, run_.reach, heads});
    required(blocks, bytes({2, count, pitch}));
    required(exponents, count);
  }

  void check_heads(const HeadsArguments<Planned>& a, const HeadsSegment<Planned>& s) const {
    hold(s.heads >= 1 && s.rotate <= 1, "heads");
    const std::int64_t blocks = bytes({a.rows, s.heads});
    const std::int64_t floats = bytes({4, blocks, a.columns});
    required(s.x, floats);
    if (s.gain) {
      required(s.gain, bytes({4, a.columns}));
      required(s.norm_fault, 4);
    }
    optional(s.normed, floats);
    optional(s.rotated, floats);
    if (s.rotate != 0) {
      required(a.cosines, bytes({2, a.rows, a.columns}));
      required(a.sines, bytes({2, a.rows, a.columns}));
    }
    required(s.fault, 4);
    if (s.q) {
      optional(s.q, bytes({2, blocks, a.columns}));
      hold(s.exponents.space == s.q.space && s.exponents.index == s.q.index, "exponents of heads");
      optional(s.exponents, blocks);
    }
    if (s.cache) {
      hold(plan_.has_positions, "positions of a push");
      cache(s.cache, s.cache_exponents,
            s.cache.space == Space::kValues ? Space::kValues : Space::kKeys, s.heads, a.head_pitch);
      required(a.positions, bytes({4, a.rows}));
    }
  }

  void check_attention_shape(const AttentionArguments<Planned>& a) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    constexpr std::int64_t kMostSplit = 2048;  ///< its weights fit in shared memory
    constexpr std::int64_t kMostHeads = std::int64_t{1} << 16;
    hold(a.heads >= 1 && a.key_heads >= 1 && a.group >= 1, "heads of attention");
    hold(a.heads < kMostHeads && a.key_heads < kMostHeads, "heads of attention");
    hold(bytes({std::int64_t{a.first_key} + a.key_heads, a.group}) < kMost &&
             std::int64_t{a.first_head} + a.heads < kMost,
         "heads of attention");
    hold(a.first_head / a.group == a.first_key &&
             (a.first_head + a.heads - 1) / a.group == a.first_key + a.key_heads - 1,
         "key heads of query heads");
    hold(a.split >= kSplitPositions && a.split <= kMostSplit && a.split % kSplitPositions == 0,
         "positions of a split");
    hold(a.row_tile >= 1 && a.row_tile <= kBlockQueries && (a.each == 0 || a.row_tile == 1),
         "rows of a block of attention");
    hold(run_.reach < kMost, "positions");
    hold(a.window == plan_.window, "another window than the plan's");
  }

  const Plan& plan_;
  const RunShape& run_;
  std::string_view where_;
  const Need& need_;
};

}  // namespace

void check_step(const Step& step, const Plan& plan, const RunShape& run, std::string_view where,
                const Need& need) {
  Checker checker(plan, run, where, need);
  std::visit([&](const auto& work) { checker.check(work); }, step.work);
}

}  // namespace logos::cuda
