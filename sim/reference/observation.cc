#include "sim/reference/observation.h"

#include <algorithm>

#include "program/check.h"

namespace logos::reference {
namespace {

/// Puts a row together from its parts, each at its place in the whole: what two chips hold stands
/// once. `get` gives a chip's whole array, `[rows][units][width]`, where `width` elements make a
/// unit (a head or a column).
template <typename T, typename Get>
std::vector<T> joined_row(const Parts& parts, std::int64_t row, std::int64_t width, Get get) {
  const Value& first = *parts.values.front();
  const bool by_heads = first.kind == ValueKind::kHeads || first.per_head;
  if (first.spread == Spread::kHeld) {
    for (const auto* cells : parts.cells) {
      if (!cells->held[static_cast<std::size_t>(row)]) continue;
      const auto part = part_of(get(*cells), row, first.columns * width);
      return {part.begin(), part.end()};
    }
    CHECK_UNREACHABLE();
  }
  const auto units_in = [&](const Value& value) { return by_heads ? value.heads : value.columns; };
  const bool whole = first.spread == Spread::kWhole;
  const std::int64_t units = whole ? units_in(first) : first.whole;
  std::vector<T> joined(static_cast<std::size_t>(units * width));
  for (std::size_t chip = 0; chip < parts.cells.size(); ++chip) {
    const Value& value = *parts.values[chip];
    const auto part = part_of(get(*parts.cells[chip]), row, units_in(value) * width);
    const std::int64_t at = whole ? 0 : value.first * width;
    std::copy(part.begin(), part.end(), joined.begin() + at);
    if (whole) break;
  }
  return joined;
}

template <typename T>
void show_row(Observation observation, ElementType type, const std::vector<T>& values,
              std::span<const std::int8_t> exponents, Observer& observer) {
  observation.type = type;
  observation.values = std::as_bytes(std::span<const T>(values));
  observation.exponents = exponents;
  observer.observe(observation);
}

Observation observation_of(const Operation& operation, std::int64_t row,
                           std::span<const std::int64_t> positions) {
  Observation observation;
  observation.name = operation.name;
  observation.layer = operation.layer;
  observation.line = operation.line;
  observation.row = row;
  observation.position = positions.empty() ? 0 : positions[static_cast<std::size_t>(row)];
  return observation;
}

/// One row of an attention's trace: all heads of all chips one after the other.
template <typename T, typename Append>
std::vector<T> all_heads(const std::vector<std::vector<HeadTrace>>& traces, std::size_t row,
                         std::size_t rows, Append append) {
  std::vector<T> all;
  for (const auto& of_chip : traces) {
    const std::size_t heads = of_chip.size() / rows;
    for (std::size_t head = 0; head < heads; ++head) append(all, of_chip[row * heads + head]);
  }
  return all;
}

}  // namespace

void show_result(const Operation& operation, const Parts& parts,
                 std::span<const std::int64_t> positions, Observer& observer) {
  const Value& first = *parts.values.front();
  CHECK(first.spread != Spread::kPartial);
  for (std::int64_t row = 0; row < first.rows; ++row) {
    const Observation observation = observation_of(operation, row, positions);
    const std::int64_t width =
        first.kind == ValueKind::kHeads || first.per_head ? first.columns : 1;
    if (first.kind == ValueKind::kBlock) {
      const auto q = joined_row<std::int16_t>(
          parts, row, width, [](const Cell& cell) -> const auto& { return cell.q; });
      std::vector<std::int8_t> exponents = {
          parts.cells.front()->exponents[static_cast<std::size_t>(first.per_head ? 0 : row)]};
      if (first.per_head) {
        exponents = joined_row<std::int8_t>(
            parts, row, 1, [](const Cell& cell) -> const auto& { return cell.exponents; });
      }
      show_row(observation, ElementType::kI16, q, exponents, observer);
    } else {
      CHECK(first.kind == ValueKind::kRows || first.kind == ValueKind::kHeads);
      const auto x = joined_row<float>(
          parts, row, width, [](const Cell& cell) -> const auto& { return cell.x; });
      show_row(observation, ElementType::kF32, x, {}, observer);
    }
  }
}

void show_attention(const Operation& operation, const std::vector<std::vector<HeadTrace>>& traces,
                    std::span<const std::int64_t> positions, Observer& observer) {
  const std::size_t rows = positions.size();
  for (std::size_t row = 0; row < rows; ++row) {
    Observation observation = observation_of(operation, static_cast<std::int64_t>(row), positions);
    observation.name = "scores";
    const auto scores =
        all_heads<float>(traces, row, rows, [](std::vector<float>& all, const HeadTrace& head) {
          all.insert(all.end(), head.scores.begin(), head.scores.end());
        });
    show_row(observation, ElementType::kF32, scores, {}, observer);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    Observation observation = observation_of(operation, static_cast<std::int64_t>(row), positions);
    observation.name = "weights";
    const auto weights = all_heads<std::int32_t>(
        traces, row, rows, [](std::vector<std::int32_t>& all, const HeadTrace& head) {
          all.insert(all.end(), head.weights.begin(), head.weights.end());
        });
    show_row(observation, ElementType::kI32, weights, {}, observer);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    Observation observation = observation_of(operation, static_cast<std::int64_t>(row), positions);
    observation.name = "weight_sum";
    const auto sums = all_heads<std::int64_t>(
        traces, row, rows, [](std::vector<std::int64_t>& all, const HeadTrace& head) {
          all.push_back(head.weight_sum);
        });
    show_row(observation, ElementType::kI64, sums, {}, observer);
  }
}

}  // namespace logos::reference
