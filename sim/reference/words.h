#pragma once

#include <span>
#include <vector>

#include "program/program.h"
#include "sim/inputs.h"
#include "sim/reference/attention.h"
#include "sim/reference/cell.h"
#include "sim/reference/instructions.h"
#include "sim/reference/workers.h"
#include "sim/weights/rotary_table.h"
#include "sim/weights/store.h"

/// The words of the language on plain values, one function a word (program/language.md). `type` is
/// the declaration of the argument, `result` that of the result; both as one chip holds them.
/// Functions that quantize say whether they raised FAULT.
namespace logos::reference {

void embedded(const Matrix& share, const MatrixView& weights, std::span<const std::int64_t> tokens,
              const Value& result, Cell& to);
[[nodiscard]] bool rms_norm(const Value& type, const Cell& x, std::span<const float> gain,
                            float epsilon, Cell& to);
[[nodiscard]] bool quantized(const Value& type, const Cell& x, Cell& to);
void with_bias(const Value& type, const Cell& y, std::span<const float> bias, Cell& to);
void rotated(const Value& type, const Cell& heads, const RotaryTable& table, Cell& to);
void push(const Value& type, const Cell& block, const Cache& cache,
          std::span<const std::int64_t> positions, std::span<KvCache> caches);
void silu_of(const Cell& x, Cell& to);
void multiplied(const Cell& x, const Cell& y, Cell& to);
void added(const Cell& x, const Cell& y, Cell& to);
void last_row(const Value& type, const Cell& x, Cell& to);
void peak(const Value& type, const Cell& x, Cell& to);
[[nodiscard]] bool quantized_at(const Value& type, const Cell& x, const Cell& peaks, Cell& to);
void sums(const Value& type, const Cell& block, const Matrix& share, const MatrixView& weights,
          Workers& workers, Instructions instructions, Cell& to);
void scaled(const Value& type, const Cell& sums, Cell& to);

/// What an attention needs beside its block.
struct AttentionContext {
  const Program& program;
  std::span<const std::int64_t> positions;
  std::span<const KvCache> caches;
  Workers& workers;
  Instructions instructions;
};
/// `traces`, where given, receives the inner values, `[row][head]`.
void attended(const AttentionContext& context, const Operation& operation, const Value& type,
              const Cell& block, Cell& to, std::vector<HeadTrace>* traces);

/// The four words that see all chips: `from[chip]` to `to[chip]`.
void greatest_over_chips(std::span<const Cell* const> from, std::span<Cell* const> to);
void sum_over_chips(std::span<const Cell* const> from, std::span<Cell* const> to);
void joined_over_chips(std::span<const Value* const> types, std::span<const Cell* const> from,
                       std::span<Cell* const> to);
void held_over_chips(const Value& type, std::span<const Cell* const> from,
                     std::span<Cell* const> to);

}  // namespace logos::reference
