#include "rtl/lowering/exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "program/check.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kSumBytes = 8;
constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kGroupColumns = 64;  ///< of OpScale

std::int64_t element_bytes(ExchangeKind kind) {
  return kind == ExchangeKind::kSums ? kSumBytes : kFloatBytes;
}

std::int64_t lines_of(const OutputPiece& piece, std::int64_t bytes_of_element) {
  return (piece.columns * bytes_of_element + kLineBytes - 1) / kLineBytes;
}

/// A row of a piece.
std::span<const std::byte> row_of(const OutputPiece& piece, std::int64_t bytes_of_element,
                                  std::int64_t row, StoredLines stored) {
  const std::span<const std::byte> lines = stored[static_cast<std::size_t>(piece.board)];
  const std::int64_t at = (piece.offset + row * lines_of(piece, bytes_of_element)) * kLineBytes;
  const std::int64_t bytes = piece.columns * bytes_of_element;
  CHECK(std::cmp_less_equal(at + bytes, lines.size()));
  return lines.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
}

/// A row of x: the piece of the board that holds its token.
std::span<const std::byte> held_row(const Plan& plan, std::span<const OutputPiece> pieces,
                                    const Inputs& inputs, std::int64_t row_of_run, std::int64_t row,
                                    StoredLines stored) {
  const std::int64_t token = inputs.tokens[static_cast<std::size_t>(row_of_run)];
  const auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const OutputPiece& p) {
    return holds_token(plan.boards[static_cast<std::size_t>(p.board)], token);
  });
  CHECK(piece != pieces.end());
  return row_of(*piece, kFloatBytes, row, stored);
}

/// The row scales of 64 columns: bank b, j-th binary32: that of column 4j + b of these.
void put_scales(std::span<const float> scales, std::int64_t first, std::span<std::byte> beat) {
  for (std::int64_t c = 0; c < kGroupColumns; ++c) {
    if (std::cmp_greater_equal(first + c, scales.size())) return;
    std::memcpy(beat.data() + c % kBanks * kLineBytes + c / kBanks * kFloatBytes,
                &scales[static_cast<std::size_t>(first + c)], sizeof(float));
  }
}

/// Sums as OpScale reads them: of each 64 columns the row scales, then each board's sums.
void put_sums(const Exchange& exchange, std::span<const float> scales, std::int64_t boards,
              std::int64_t row, StoredLines stored, std::span<std::byte> to) {
  const std::int64_t group_bytes = (1 + 2 * boards) * kSuperBeatBytes;
  const auto bytes_of = [&](std::int64_t at, std::int64_t count) {
    return to.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
  };
  for (std::int64_t first = 0; first < exchange.columns; first += kGroupColumns) {
    put_scales(scales, first, bytes_of(first / kGroupColumns * group_bytes, kSuperBeatBytes));
  }
  for (const OutputPiece& piece : exchange.pieces) {
    const std::span<const std::byte> sums = row_of(piece, kSumBytes, row, stored);
    for (std::int64_t c = 0; c < piece.columns; c += kGroupColumns) {
      const std::int64_t count = std::min(kGroupColumns, piece.columns - c) * kSumBytes;
      const std::int64_t at =
          (piece.first + c) / kGroupColumns * group_bytes + (1 + 2 * piece.board) * kSuperBeatBytes;
      std::memcpy(bytes_of(at, count).data(), sums.data() + c * kSumBytes,
                  static_cast<std::size_t>(count));
    }
  }
}

}  // namespace

bool holds_token(const BoardPlan& board, std::int64_t token) {
  return std::any_of(board.embeddings.begin(), board.embeddings.end(),
                     [&](const EmbeddingItem& item) {
                       return token > item.first_row && token <= item.first_row + item.rows;
                     });
}

std::vector<TableRow> row_table(const Plan& plan, std::size_t board, const Inputs& inputs,
                                const RowRange& rows) {
  std::vector<TableRow> table(static_cast<std::size_t>(rows.count));
  const std::vector<EmbeddingItem>& embeddings = plan.boards[board].embeddings;
  for (std::size_t r = 0; r < table.size(); ++r) {
    const std::size_t t = static_cast<std::size_t>(rows.first) + r;
    if (plan.has_tokens && holds_token(plan.boards[board], inputs.tokens[t])) {
      table[r].token =
          static_cast<std::uint32_t>(inputs.tokens[t] - 1 - embeddings.front().first_row);
    }
    if (plan.has_positions) table[r].position = static_cast<std::uint32_t>(inputs.positions[t] - 1);
  }
  return table;
}

std::size_t stored_bytes(std::span<const OutputPiece> pieces, std::size_t board,
                         std::int64_t bytes_of_element, std::int64_t rows) {
  std::int64_t end = 0;
  for (const OutputPiece& piece : pieces) {
    if (std::cmp_not_equal(piece.board, board)) continue;
    end = std::max(end, piece.offset + rows * lines_of(piece, bytes_of_element));
  }
  return static_cast<std::size_t>(end * kLineBytes);
}

std::size_t stored_bytes(const Exchange& exchange, std::size_t board, std::int64_t rows) {
  return stored_bytes(exchange.pieces, board, element_bytes(exchange.kind), rows);
}

std::vector<std::byte> exchanged(const Plan& plan, const Exchange& exchange,
                                 const WeightStore& weights, const Inputs& inputs,
                                 const RowRange& rows, StoredLines stored) {
  const auto boards = static_cast<std::int64_t>(plan.boards.size());
  const std::int64_t beats = exchange.kind == ExchangeKind::kHeldRows ? row_beats(exchange.columns)
                             : exchange.kind == ExchangeKind::kPeaks
                                 ? 1
                                 : sums_beats(exchange.columns, boards);
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows.count * beats * kSuperBeatBytes));
  const auto row_bytes = static_cast<std::size_t>(beats * kSuperBeatBytes);
  const std::span<const float> scales = exchange.kind == ExchangeKind::kSums
                                            ? weights.matrix(exchange.tensor).scales
                                            : std::span<const float>();
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::span<std::byte> to =
        std::span(bytes).subspan(static_cast<std::size_t>(r) * row_bytes, row_bytes);
    if (exchange.kind == ExchangeKind::kSums) {
      put_sums(exchange, scales, boards, r, stored, to);
    } else if (exchange.kind == ExchangeKind::kHeldRows) {
      const auto row = held_row(plan, exchange.pieces, inputs, rows.first + r, r, stored);
      std::copy(row.begin(), row.end(), to.begin());
    } else {
      for (const OutputPiece& piece : exchange.pieces) {
        const auto peak = row_of(piece, kFloatBytes, r, stored);
        std::copy(peak.begin(), peak.end(), to.begin() + piece.first * kFloatBytes);
      }
    }
  }
  return bytes;
}

std::int64_t exchange_base(const BoardPlan& board, ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::kHeldRows:
      return board.given_base;
    case ExchangeKind::kPeaks:
      return board.peaks_base;
    case ExchangeKind::kSums:
      return board.sums_base;
  }
  CHECK_UNREACHABLE();
}

void take_outputs(const Plan& plan, const Inputs& inputs, const RowRange& rows, StoredLines stored,
                  std::span<float> outputs) {
  const auto put = [&](std::int64_t row, std::int64_t column, std::span<const std::byte> values) {
    std::memcpy(outputs.data() + row * plan.output_columns + column, values.data(), values.size());
  };
  for (std::int64_t r = 0; r < rows.count; ++r) {
    if (plan.rows_are_held) {
      put(r, 0, held_row(plan, plan.outputs, inputs, rows.first + r, r, stored));
      continue;
    }
    for (const OutputPiece& piece : plan.outputs) {
      put(r, piece.first, row_of(piece, kFloatBytes, r, stored));
    }
  }
}

}  // namespace logos::d5005
