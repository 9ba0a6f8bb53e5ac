// Products and what becomes of their sums.
#include <algorithm>
#include <cstring>
#include <utility>

#include "program/check.h"
#include "program/divide_up.h"
#include "spatial/chip/sequencer.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kValue = 4;    ///< bytes of a binary32
constexpr std::int64_t kInteger = 2;  ///< of an operand
constexpr std::int64_t kSum = 8;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void append(std::vector<std::byte>& to, const void* from, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

/// The time of multiplying `rows` matrix rows by columns [first, last) of the operands of every row
/// of the block: weights once, operands once where the array holds them, else once for as many
/// matrix rows as it works on together; sums written. Where the next product adds to the same sums
/// (`adds_more`), it need not wait for the last of them.
void Sequencer::spend_product(std::int64_t rows, Share columns, bool adds_more) {
  const ChipConfig& chip = machine_.config;
  const std::int64_t groups = divide_up(columns.end, kGroup) - columns.begin / kGroup;
  const std::int64_t weights = rows * (columns.size() + scale_bytes(stage().profile, groups));
  const std::int64_t operands = rows_.count * columns.size() * kInteger;
  const std::int64_t readings = operands <= chip.operand_bytes ? 1 : divide_up(rows, chip.mac_rows);
  const std::int64_t sums = rows_.count * rows * kSum;
  const std::int64_t passes =
      rows_.count * divide_up(rows, chip.mac_rows) * divide_up(columns.size(), chip.mac_columns);
  const std::int64_t bytes = weights + readings * operands + sums;
  const bool by_bytes = adds_more ? mac_passes(passes, bytes) : mac_work(passes, bytes);
  record_.bound = by_bytes ? Category::kWeightStream : Category::kCompute;
  machine_.count_weights(weights);
  tile_.macs += static_cast<std::uint64_t>(rows_.count * rows * columns.size());
}

/// D of some rows of a matrix.
std::span<const float> Sequencer::row_scales(const MatrixView& matrix, Share rows) {
  if (matrix.profile() == Profile::kA)
    return matrix.scales.subspan(at(rows.begin), at(rows.size()));
  if (std::cmp_less(equal_scales_.size(), rows.size()))
    equal_scales_.resize(at(rows.size()), kScaleB);
  return std::span<const float>(equal_scales_).first(at(rows.size()));
}

/// Rows [0, count) of sums in the block's area, `pitch` sums apart.
std::int64_t* Sequencer::sums_row(std::int64_t row, std::int64_t pitch) {
  return reinterpret_cast<std::int64_t*>(state_.row(stage().sums, block_, row, pitch * kSum));
}

float* Sequencer::values_row(std::int64_t row, std::int64_t pitch) {
  return reinterpret_cast<float*>(state_.row(stage().values, block_, row, pitch * kValue));
}

void Sequencer::project(const Step& step) {
  const Share units = share(step);
  const std::int64_t n = plan().columns;
  spend_product(units.size(), {0, n}, false);
  const std::int64_t pitch = units.size();
  std::fill_n(sums_row(0, pitch), rows_.count * pitch, 0);
  const auto* operands =
      reinterpret_cast<const std::int16_t*>(state_.row(stage().operands, block_, 0, 0));
  for (const PlacedVector& placed : stage_.map.vectors) {
    const std::int64_t first = std::max(units.begin, placed.first_unit);
    const std::int64_t last = std::min(units.end, placed.first_unit + plan().head_columns);
    if (first >= last) continue;
    const std::int64_t row = placed.row + first - placed.first_unit;
    machine_.product.add(stage_.matrices[at(matrix_of(placed))], {row, row + last - first}, {0, n},
                         {operands, rows_.count, n}, sums_row(0, pitch) + first - units.begin,
                         pitch);
  }
  vector_work(machine_.config.convert, rows_.count * pitch, rows_.count * pitch * (kSum + kValue));
  for (const PlacedVector& placed : stage_.map.vectors) {
    const Share part = {std::max(units.begin, placed.first_unit),
                        std::min(units.end, placed.first_unit + plan().head_columns)};
    if (part.begin < part.end) send_projected(placed, part, units);
  }
}

int Sequencer::matrix_of(const PlacedVector& placed) const {
  switch (placed.vector.kind) {
    case VectorKind::kQuery:
      return stage().query_matrix;
    case VectorKind::kKey:
      return stage().key_matrix;
    case VectorKind::kValue:
      return stage().value_matrix;
  }
  CHECK_UNREACHABLE();
}

/// Units `part` of a head vector, scaled and with their bias, to the vector's owner.
void Sequencer::send_projected(const PlacedVector& placed, Share part, Share units) {
  const MatrixView& matrix = stage_.matrices[at(matrix_of(placed))];
  const std::int64_t row = placed.row + part.begin - placed.first_unit;
  const auto scales = row_scales(matrix, {row, row + part.size()});
  const bool is_query = placed.vector.kind == VectorKind::kQuery;
  const bool is_key = placed.vector.kind == VectorKind::kKey;
  const int bias = is_query ? stage().query_bias : is_key ? stage().key_bias : stage().value_bias;
  const std::string name = is_query ? "q" : is_key ? "k" : "v";
  auto vector = message(stage_.index, stage().named.vectors);
  vector->segments[0] = {placed.vectors_at + (part.begin - placed.first_unit) * kValue,
                         part.size() * kValue};
  std::vector<float> y(at(part.size()));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::int64_t* sums = sums_row(r, units.size()) + part.begin - units.begin;
    scale_sums({sums, y.size()}, operand_tags_[at(r)].exponent, scales, y);
    const bool shows = watches(false) && shows_head(placed);
    if (shows) put<float>(name, r, matrix.rows, row, y);
    if (bias >= 0) {
      const auto b = stage_.vectors[at(bias)].subspan(at(row), y.size());
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] + b[i];
      if (shows) put<float>(name + ".bias", r, matrix.rows, row, y);
    }
    append(vector->data, y.data(), part.size() * kValue);
  }
  send_to_tile(vector, placed.vector.owner);
}

void Sequencer::multiply(const Step& step) {
  const bool is_hidden = step.buffer >= 0;
  const Share columns = {step.first_column, step.last_column};
  const Share rows = share(step);
  const std::int64_t pitch = rows.size() * static_cast<std::int64_t>(step.matrices.size());
  const std::int16_t* operands = nullptr;
  std::int64_t operand_pitch = 0;
  if (is_hidden) {
    state_.require_full(step.buffer, step.chunk, block_, "a product");
    operands = reinterpret_cast<const std::int16_t*>(state_.buffer_row(step.buffer, block_, 0));
    operand_pitch = stage().buffers[at(step.buffer)].row_bytes / kInteger;
  } else {
    operands = reinterpret_cast<const std::int16_t*>(state_.row(stage().operands, block_, 0, 0));
    operand_pitch = columns.end;
  }
  sums_tags_ = is_hidden ? hidden_tags_ : operand_tags_;
  if (step.matrices.size() == 2) gate_up_ = step.matrices;
  const std::int64_t before = stage().matrices[at(step.matrices.front())].column_share.begin;
  const StageMatrix& first = stage().matrices[at(step.matrices.front())];
  spend_product(pitch, {before + columns.begin, before + columns.end},
                columns.end < first.column_share.size());
  if (step.chunk == 0) std::fill_n(sums_row(0, pitch), rows_.count * pitch, 0);
  for (std::size_t m = 0; m < step.matrices.size(); ++m) {
    machine_.product.add(stage_.matrices[at(step.matrices[m])], rows,
                         {before + columns.begin, before + columns.end},
                         {operands + columns.begin, rows_.count, operand_pitch},
                         sums_row(0, pitch) + static_cast<std::int64_t>(m) * rows.size(), pitch);
  }
}

void Sequencer::scale(const Step& step) {
  const Share rows = share(step);
  const std::int64_t n = rows.size();
  const MatrixView& matrix = stage_.matrices[at(step.matrices.front())];
  const auto scales = row_scales(matrix, rows);
  vector_work(machine_.config.convert, rows_.count * n, rows_.count * n * (kSum + 2 * kValue));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::span<float> y(values_row(r, n), at(n));
    scale_sums({sums_row(r, n), at(n)}, sums_tags_[at(r)].exponent, scales, y);
    const bool is_head = stage().kind == StageKind::kHead;
    if (!watches(false) || (!is_head && stage().text_chip != 0)) continue;
    put<float>(is_head ? "logits" : plan().names[at(step.operation)], r, matrix.rows, rows.begin,
               y);
  }
}

void Sequencer::silu(const Step& step) {
  const Share rows = share(step);
  const std::int64_t n = rows.size();
  const std::int64_t all = rows_.count * n;
  const ChipConfig& chip = machine_.config;
  vector_work(chip.convert, 2 * all, 2 * all * (kSum + kValue));
  vector_work(chip.silu, all, all * kValue);
  vector_work(chip.maximum, all, all * kValue);
  const MatrixView& gate_matrix = stage_.matrices[at(gate_up_[0])];
  const MatrixView& up_matrix = stage_.matrices[at(gate_up_[1])];
  const auto gate_scales = row_scales(gate_matrix, rows);
  const auto up_scales = row_scales(up_matrix, rows);
  std::vector<float> gate(at(n));
  std::vector<float> up_values(at(n));
  auto peak = message(stage_.index, stage().named.tile_peaks);
  peak->segments[0] = {state_.tile() * kValue, kValue};
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::int64_t* sums = sums_row(r, 2 * n);
    const std::int8_t exponent = sums_tags_[at(r)].exponent;
    scale_sums({sums, at(n)}, exponent, gate_scales, gate);
    scale_sums({sums + n, at(n)}, exponent, up_scales, up_values);
    const std::span<float> h(values_row(r, n), at(n));
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = silu_times(gate[i], up_values[i]);
    const std::uint32_t largest = largest_magnitude(h);
    append(peak->data, &largest, sizeof largest);
    if (!watches(false)) continue;
    put<float>("gate", r, gate_matrix.rows, rows.begin, gate);
    put<float>("up", r, gate_matrix.rows, rows.begin, up_values);
    put<float>(plan().names[at(step.operation)], r, gate_matrix.rows, rows.begin, h);
  }
  send_to_tile(peak, stage().leader);
}

}  // namespace logos::spatial
