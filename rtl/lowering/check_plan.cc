#include "rtl/lowering/check_plan.h"

#include <fmt/format.h>

#include <utility>

#include "program/error.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kMostColumns = 32768;            ///< of a row
constexpr std::int64_t kMostHead = 256;                 ///< columns of a head
constexpr std::int64_t kMostHostUnits = 512LL * 32768;  ///< 512 segments of 2 MiB
constexpr std::int64_t kMostLines = 65536;              ///< an instruction's `line` has 16 bits

class PlanCheck {
 public:
  PlanCheck(const Plan& plan, const WeightStore& weights, std::string_view where)
      : plan_(plan), weights_(weights), where_(where) {}

  void check(const EngineSize& engine, std::int64_t chips) {
    hold(plan_.engine == engine, "another engine's size");
    hold(std::cmp_equal(plan_.boards.size(), chips), "another number of boards");
    check_shape();
    check_outputs();
    for (const BoardPlan& board : plan_.boards) check_board(board);
  }

 private:
  void hold(bool condition, std::string_view what) const {
    if (!condition) throw Error(where_, fmt::format("damaged plan: {}", what));
  }
  /// `count` super-beats from `base` on lie in the banks. Both below 2^62.
  void inside(std::int64_t base, std::int64_t count, std::string_view what) const {
    hold(base >= 0 && count >= 0 && count <= plan_.engine.super_beats &&
             base <= plan_.engine.super_beats - count,
         what);
  }

  void check_shape() const {
    hold(plan_.rows >= 1 && plan_.rows <= plan_.engine.table_rows, "rows");
    hold(plan_.columns >= 1 && plan_.columns <= kMostColumns, "columns");
    hold(plan_.head_columns >= 0 && plan_.head_columns <= kMostHead && plan_.head_columns % 2 == 0,
         "columns of a head");
    hold(plan_.capacity <= plan_.engine.positions, "positions of a cache");
    hold(!plan_.lines.empty() && std::cmp_less_equal(plan_.lines.size(), kMostLines), "lines");
  }

  void check_outputs() const {
    hold(plan_.output_rows >= 1 && plan_.output_rows <= plan_.rows, "rows of the outputs");
    hold(plan_.host_units >= 1 && plan_.host_units <= kMostHostUnits, "size of the output buffer");
    std::int64_t columns = 0;
    for (const OutputPiece& piece : plan_.outputs) {
      const std::int64_t lines = (piece.columns + 15) / 16;
      hold(piece.columns >= 1 && lines <= plan_.host_units / plan_.output_rows &&
               piece.offset <= plan_.host_units - plan_.output_rows * lines,
           "place of an output");
      hold(piece.first <= plan_.output_columns - piece.columns, "columns of an output");
      columns += piece.columns;
    }
    hold(columns == plan_.output_columns, "columns of the outputs");
  }

  void check_board(const BoardPlan& board) const {
    for (const MatrixItem& item : board.matrices) check_matrix(item);
    for (const GainItem& item : board.gains) {
      hold(std::cmp_equal(weights_.vector(item.tensor).size(), item.size), "size of a gain");
      inside(item.base, row_beats(item.size), "place of a gain");
    }
    hold(board.embeddings.size() <= 1, "several embeddings");
    for (const EmbeddingItem& item : board.embeddings) check_embedding(item);
    hold(board.caches.empty() || (plan_.has_positions && plan_.head_columns >= 2),
         "caches without positions");
    for (const CacheItem& item : board.caches) check_cache(item);
    if (!board.caches.empty()) {
      inside(board.rotary_base, rotary_beats(plan_.head_columns) * plan_.capacity, "rotary rows");
    }
    if (plan_.has_given) {
      inside(board.given_base, row_beats(plan_.columns) * plan_.rows, "place of the given rows");
    }
    hold(!board.program.empty() &&
             std::cmp_less_equal(board.program.size(), plan_.engine.instructions) &&
             static_cast<Op>(board.program.back().op) == Op::kEnd,
         "length of the program");
    inside(board.program_base, program_beats(board.program.size()), "place of the program");
  }

  void check_matrix(const MatrixItem& item) const {
    hold(item.parts.size() == 1 || item.parts.size() == 2, "parts of a matrix");
    hold(item.columns >= 1 && item.first_column % 32 == 0, "columns of a matrix");
    for (const MatrixPart& part : item.parts) {
      const MatrixView view = weights_.matrix(part.tensor);
      hold(part.rows >= 1 && part.first_row + part.rows <= view.rows, "rows of a matrix");
      hold(item.first_column + item.columns <= view.columns, "columns of a matrix");
      hold(part.head_columns <= kMostHead && part.lead <= kMostHead, "heads of a matrix");
      hold(part.head_columns == 0 || part.rows % part.head_columns == 0, "heads of a matrix");
      hold(part.bias.empty() ||
               std::cmp_less_equal(part.first_row + part.rows, weights_.vector(part.bias).size()),
           "size of a bias");
      hold(part_slots(part) == part_slots(item.parts.front()), "halves of a matrix");
    }
    inside(item.base, matrix_beats(item), "place of a matrix");
  }

  void check_embedding(const EmbeddingItem& item) const {
    const MatrixView view = weights_.matrix(item.tensor);
    hold(item.rows >= 0 && item.first_row + item.rows <= view.rows && item.columns == view.columns,
         "size of the embedding");
    inside(item.base, embedding_beats(item.columns) * item.rows, "place of the embedding");
  }

  void check_cache(const CacheItem& item) const {
    hold(item.layer >= 1 && item.heads >= 1 && item.first_head + item.heads <= plan_.key_heads,
         "heads of a cache");
    const std::int64_t head = cache_head_beats(plan_.head_columns, plan_.capacity);
    const std::int64_t row = head * item.heads;
    hold(item.head_stride == head && item.row_stride == (plan_.each_row_caches ? row : 0) &&
             item.values_offset ==
                 (plan_.capacity + 127) / 128 * key_block_beats(plan_.head_columns),
         "strides of a cache");
    inside(item.base, row * (plan_.each_row_caches ? plan_.rows : 1), "place of a cache");
  }

  const Plan& plan_;
  const WeightStore& weights_;
  std::string_view where_;
};

}  // namespace

void check_plan(const Plan& plan, const EngineSize& engine, std::int64_t chips,
                const WeightStore& weights, std::string_view where) {
  PlanCheck(plan, weights, where).check(engine, chips);
}

}  // namespace logos::d5005
