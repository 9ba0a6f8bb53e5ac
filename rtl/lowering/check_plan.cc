#include "rtl/lowering/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "program/error.h"
#include "rtl/lowering/exchange.h"
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
    check_embeddings();
    for (const BoardPlan& board : plan_.boards) check_board(board);
    for (const Exchange& exchange : plan_.exchanges) check_exchange(exchange);
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
    hold(plan_.capacity <= plan_.engine.super_beats, "positions of a cache");
    hold(!plan_.lines.empty() && std::cmp_less_equal(plan_.lines.size(), kMostLines), "lines");
  }

  /// Rows of an engine's run: of a pass where there are several boards.
  std::int64_t rows_of_run() const {
    return plan_.boards.size() == 1 ? plan_.rows : std::min(plan_.rows, plan_.engine.rows);
  }

  /// A piece of `rows` rows lies in the output buffer of a board.
  void check_piece(const OutputPiece& piece, std::int64_t element_bytes, std::int64_t rows) const {
    hold(piece.columns >= 1 && std::cmp_less(piece.board, plan_.boards.size()), "a stored piece");
    const std::int64_t lines = (piece.columns * element_bytes + 63) / 64;
    hold(lines <= plan_.host_units / rows && piece.offset <= plan_.host_units - rows * lines,
         "place of a stored piece");
  }

  /// Pieces that one after the other are the columns.
  void check_columns(std::span<const OutputPiece> pieces, std::int64_t columns) const {
    std::int64_t next = 0;
    for (const OutputPiece& piece : pieces) {
      hold(piece.first == next, "columns of stored pieces");
      next += piece.columns;
    }
    hold(next == columns, "columns of stored pieces");
  }

  /// One piece a board; each row is whole on the board that holds its token.
  void check_held(std::span<const OutputPiece> pieces, std::int64_t columns) const {
    hold(plan_.has_tokens && pieces.size() == plan_.boards.size() && columns == plan_.columns,
         "boards of held rows");
    for (std::size_t b = 0; b < pieces.size(); ++b) {
      hold(std::cmp_equal(pieces[b].board, b), "boards of held rows");
      check_columns(pieces.subspan(b, 1), columns);
    }
  }

  void check_outputs() const {
    hold(plan_.output_rows >= 1 && plan_.output_rows <= plan_.rows, "rows of the outputs");
    hold(plan_.host_units >= 1 && plan_.host_units <= kMostHostUnits, "size of the output buffer");
    for (const OutputPiece& piece : plan_.outputs) {
      check_piece(piece, 4, std::min(plan_.output_rows, rows_of_run()));
    }
    if (plan_.rows_are_held) {
      hold(plan_.output_rows == plan_.rows, "rows of the outputs");
      check_held(plan_.outputs, plan_.output_columns);
    } else {
      check_columns(plan_.outputs, plan_.output_columns);
    }
  }

  void check_exchange(const Exchange& exchange) const {
    const bool sums = exchange.kind == ExchangeKind::kSums;
    for (const OutputPiece& piece : exchange.pieces) {
      check_piece(piece, sums ? 8 : 4, rows_of_run());
    }
    const auto boards = static_cast<std::int64_t>(plan_.boards.size());
    if (exchange.kind == ExchangeKind::kHeldRows) {
      check_held(exchange.pieces, exchange.columns);
    } else if (exchange.kind == ExchangeKind::kPeaks) {
      hold(boards <= kSuperBeatBytes / 4, "boards of peaks");
      check_columns(exchange.pieces, boards);
      for (const OutputPiece& piece : exchange.pieces) hold(piece.columns == 1, "peaks of a board");
    } else {
      hold(exchange.columns == plan_.columns && matrix(exchange.tensor).rows == exchange.columns,
           "columns of sums");
      for (std::int64_t b = 0; b < boards; ++b) {
        std::vector<OutputPiece> own;
        for (const OutputPiece& piece : exchange.pieces) {
          if (piece.board == b) own.push_back(piece);
          hold(piece.first % 64 == 0, "columns of sums");
        }
        check_columns(own, exchange.columns);
      }
    }
    const std::int64_t beats = exchange.kind == ExchangeKind::kHeldRows ? row_beats(plan_.columns)
                               : sums ? sums_beats(plan_.columns, boards)
                                      : 1;
    for (const BoardPlan& board : plan_.boards) {
      inside(exchange_base(board, exchange.kind), beats * rows_of_run(), "place of an exchange");
    }
  }

  /// One program on one board, on several a segment between each two exchanges.
  void check_segments(const BoardPlan& board) const {
    const auto check_program = [&](const Segment& segment) {
      hold(segment.count >= 1 && segment.count <= plan_.engine.instructions &&
               std::cmp_less_equal(segment.first + segment.count, board.program.size()),
           "length of the program");
      const auto last = static_cast<std::size_t>(segment.first + segment.count - 1);
      hold(static_cast<Op>(board.program[last].op) == Op::kEnd, "end of the program");
      inside(segment.base, program_beats(static_cast<std::size_t>(segment.count)) * segment.copies,
             "place of the program");
    };
    if (plan_.boards.size() == 1) {
      hold(plan_.exchanges.empty() && board.segments.empty(), "segments on one board");
      check_program({board.program_base, 0, static_cast<std::int64_t>(board.program.size()), 1});
      return;
    }
    hold(board.segments.size() == plan_.exchanges.size() + 1, "segments of a board");
    const std::int64_t passes = (plan_.rows + plan_.engine.rows - 1) / plan_.engine.rows;
    for (const Segment& segment : board.segments) {
      hold(segment.copies == 1 || segment.copies == passes, "copies of a program");
      check_program(segment);
    }
  }

  void check_board(const BoardPlan& board) const {
    for (const MatrixItem& item : board.matrices) check_matrix(item);
    for (const GainItem& item : board.gains) {
      hold(std::cmp_equal(weights_.vector(item.tensor).size(), item.size), "size of a gain");
      inside(item.base, row_beats(item.size), "place of a gain");
    }
    hold(board.caches.empty() || (plan_.has_positions && plan_.head_columns >= 2),
         "caches without positions");
    for (const CacheItem& item : board.caches) check_cache(item);
    if (!board.caches.empty()) {
      inside(board.rotary_base, rotary_beats(plan_.head_columns) * plan_.capacity, "rotary rows");
    }
    if (plan_.has_given) {
      inside(board.given_base, row_beats(plan_.columns) * plan_.rows, "place of the given rows");
    }
    check_segments(board);
  }

  /// The engine computes profile A alone.
  MatrixView matrix(const std::string& tensor) const {
    const MatrixView view = weights_.matrix(tensor);
    check_profile(view, Profile::kA, "d5005: weights " + tensor);
    return view;
  }

  void check_matrix(const MatrixItem& item) const {
    hold(item.parts.size() == 1 || item.parts.size() == 2, "parts of a matrix");
    hold(item.columns >= 1 && item.first_column % 32 == 0, "columns of a matrix");
    hold(item.lead < item.columns, "lead of a matrix");
    for (const MatrixPart& part : item.parts) {
      const MatrixView view = matrix(part.tensor);
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

  /// Every token has its row on one of the boards.
  void check_embeddings() const {
    std::int64_t next = 0;
    for (const BoardPlan& board : plan_.boards) {
      hold(board.embeddings.size() == (plan_.has_tokens ? 1U : 0U), "embeddings");
      for (const EmbeddingItem& item : board.embeddings) {
        const MatrixView view = matrix(item.tensor);
        hold(item.rows >= 1 && item.first_row == next && next + item.rows <= view.rows &&
                 item.columns == view.columns && item.columns == plan_.columns,
             "size of the embedding");
        inside(item.base, embedding_beats(item.columns) * item.rows, "place of the embedding");
        next += item.rows;
      }
    }
    hold(!plan_.has_tokens || next == plan_.vocabulary, "rows of the embedding");
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
