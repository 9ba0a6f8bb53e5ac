// What a run shows to an observer: values downloaded after the launches that made them, rows joined
// over the chips.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/plan_runner.h"
#include "program/check.h"
#include "program/error.h"

namespace logos::cuda {
namespace {

ElementType type_of(Form form) {
  switch (form) {
    case Form::kRows:
    case Form::kHeldRows:
    case Form::kScores:
      return ElementType::kF32;
    case Form::kBlock:
    case Form::kHeadsBlock:
      return ElementType::kI16;
    case Form::kWeights:
      return ElementType::kI32;
    case Form::kWeightSums:
      return ElementType::kI64;
  }
  CHECK_UNREACHABLE();
}

void append(std::vector<std::byte>& to, const std::vector<std::byte>& from, std::int64_t offset,
            std::int64_t bytes) {
  const auto begin = from.begin() + offset;
  to.insert(to.end(), begin, begin + bytes);
}

/// Columns [begin, begin + count) of a row of the two planes of a block as 16-bit integers.
void append_block(std::vector<std::byte>& to, const std::vector<std::byte>& hi,
                  const std::vector<std::byte>& lo, std::int64_t begin, std::int64_t count) {
  for (std::int64_t i = begin; i < begin + count; ++i) {
    to.push_back(lo[static_cast<std::size_t>(i)]);  // little-endian
    to.push_back(hi[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

std::vector<std::byte> PlanRunner::download(const Reference& from, std::int64_t bytes) const {
  memory_.check(from, bytes, true);
  std::vector<std::byte> values(static_cast<std::size_t>(bytes));
  if (bytes > 0) memory_.download(values, from);
  return values;
}

void PlanRunner::capture(const Step& step, const AttentionArguments<Planned>& tile) {
  Captured& captured = captured_.at(static_cast<std::size_t>(step.chip));
  const std::int64_t span = std::int64_t{tile.splits} * tile.split;
  const std::int64_t heads = tile.heads;
  const auto scores = download(tile.scores, 4 * tile.tile_rows * heads * span);
  const auto weights = download(tile.weights, 4 * tile.tile_rows * heads * span);
  const auto totals = download(tile.totals, 8 * tile.tile_rows * heads);
  for (std::int64_t r = 0; r < tile.tile_rows; ++r) {
    const std::int64_t last = run_.positions[static_cast<std::size_t>(tile.tile_first + r)];
    const std::int64_t first =
        tile.window == 0 ? 0 : std::max<std::int64_t>(0, last - tile.window + 1);
    auto& row_scores = captured.scores.emplace_back();
    auto& row_weights = captured.weights.emplace_back();
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t from = 4 * ((r * heads + head) * span + first);
      append(row_scores, scores, from, 4 * (last - first + 1));
      append(row_weights, weights, from, 4 * (last - first + 1));
    }
    append(captured.weight_sums.emplace_back(), totals, 8 * r * heads, 8 * heads);
  }
}

void PlanRunner::observe(const Group& group) {
  machine_.synchronize();
  for (const Observed& observed : group.observed) {
    if (static_cast<std::size_t>(observed.operation) >= plan_.operations.size() ||
        observed.rows > plan_.rows || observed.position_row + observed.rows > plan_.rows ||
        observed.parts.empty()) {
      throw Error("artifact of lane cuda", "damaged plan: an observed operation out of range");
    }
    for (const ObservedPart& part : observed.parts) {
      constexpr std::int64_t kMost = std::int64_t{1} << 40;
      if (part.pitch > kMost || part.skip + part.count > part.pitch || observed.width > kMost) {
        throw Error("artifact of lane cuda", "damaged plan: an observed part out of range");
      }
    }
    observe(observed);
  }
}

void PlanRunner::emit(const Observed& observed, std::int64_t row, ElementType type,
                      std::span<const std::byte> values, std::span<const std::int8_t> exponents) {
  const PlanOperation& operation = plan_.operations[static_cast<std::size_t>(observed.operation)];
  Observation observation;
  observation.name = observed.name;
  observation.layer = operation.layer;
  observation.line = operation.line;
  observation.row = row;
  const auto position_row = static_cast<std::size_t>(observed.position_row + row);
  observation.position = run_.positions.empty() ? 0 : run_.positions[position_row] + 1;
  observation.type = type;
  observation.values = values;
  observation.exponents = exponents;
  observer_->observe(observation);
}

void PlanRunner::observe(const Observed& observed) {
  for (std::int64_t row = 0; row < observed.rows; ++row) {
    std::vector<std::byte> values;
    std::vector<std::byte> exponents;
    for (const ObservedPart& part : observed.parts) {
      append_part(observed, part, row, values, exponents);
    }
    emit(observed, row, type_of(observed.form), values,
         {reinterpret_cast<const std::int8_t*>(exponents.data()), exponents.size()});
  }
}

namespace {

Reference at(const Reference& reference, std::int64_t bytes) {
  return {reference.space, reference.index, reference.offset + bytes};
}

}  // namespace

void PlanRunner::append_part(const Observed& observed, const ObservedPart& part, std::int64_t row,
                             std::vector<std::byte>& values, std::vector<std::byte>& exponents) {
  switch (observed.form) {
    case Form::kRows: {
      const auto all = download(at(part.values, 4 * row * part.pitch), 4 * part.pitch);
      append(values, all, 4 * part.skip, 4 * part.count);
      return;
    }
    case Form::kHeldRows: {  // +0 has no bit set: what one chip holds is the union of the bits
      const auto all = download(at(part.values, 4 * row * part.pitch), 4 * part.pitch);
      values.resize(std::max(values.size(), all.size()));
      for (std::size_t i = 0; i < all.size(); ++i) values[i] |= all[i];
      return;
    }
    case Form::kBlock: {
      const auto hi = download(at(part.values, row * part.pitch), part.pitch);
      const auto lo = download(at(part.second, row * part.pitch), part.pitch);
      append_block(values, hi, lo, part.skip, part.count);
      if (exponents.empty()) exponents = download(at(part.exponents, row), 1);
      return;
    }
    case Form::kHeadsBlock: {
      const std::int64_t block = 2 * observed.width;
      const auto all = download(at(part.values, row * part.pitch * block), part.pitch * block);
      append(values, all, part.skip * block, part.count * block);
      const auto tags = download(at(part.exponents, row * part.pitch), part.pitch);
      append(exponents, tags, part.skip, part.count);
      return;
    }
    case Form::kScores:
    case Form::kWeights:
    case Form::kWeightSums: {
      const auto chip = static_cast<std::size_t>(part.values.index / kScratches);
      const Captured& captured = captured_.at(chip);
      const auto& rows = observed.form == Form::kScores    ? captured.scores
                         : observed.form == Form::kWeights ? captured.weights
                                                           : captured.weight_sums;
      const auto& bytes = rows.at(static_cast<std::size_t>(row));
      values.insert(values.end(), bytes.begin(), bytes.end());
      return;
    }
  }
}

}  // namespace logos::cuda
