#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rtl/lowering/plan.h"
#include "sim/inputs.h"
#include "sim/weights/store.h"

namespace logos::d5005 {

/// The run's rows that an engine's run works on: all on one board, a pass's on several.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Tokens and positions of the rows for a board. A token is counted from the first embedding row
/// that the board holds; where it holds another board's token, its own first row stands in: what
/// becomes of it is not looked at.
std::vector<TableRow> row_table(const Plan& plan, std::size_t board, const Inputs& inputs,
                                const RowRange& rows);

/// Whether the board holds the embedding row of a token (from 1).
bool holds_token(const BoardPlan& board, std::int64_t token);

/// What the boards' engines stored in a segment's run: each board's output buffer.
using StoredLines = std::span<const std::vector<std::byte>>;

/// Bytes of a board's output buffer that the pieces fill with these rows.
std::size_t stored_bytes(std::span<const OutputPiece> pieces, std::size_t board,
                         std::int64_t bytes_of_element, std::int64_t rows);
std::size_t stored_bytes(const Exchange& exchange, std::size_t board, std::int64_t rows);

/// What an exchange puts into every board's memory from exchange_base on: whole super-beats, as the
/// next segment's OpLoad, OpPeak or OpScale reads them. Bytes are moved and nothing is computed.
std::vector<std::byte> exchanged(const Plan& plan, const Exchange& exchange,
                                 const WeightStore& weights, const Inputs& inputs,
                                 const RowRange& rows, StoredLines stored);
std::int64_t exchange_base(const BoardPlan& board, ExchangeKind kind);

/// The outputs of the rows, `[rows, plan.output_columns]`, from what the last segment stored. Rows
/// count from the outputs' first.
void take_outputs(const Plan& plan, const Inputs& inputs, const RowRange& rows, StoredLines stored,
                  std::span<float> outputs);

}  // namespace logos::d5005
