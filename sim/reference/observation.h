#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"
#include "sim/observer.h"
#include "sim/reference/attention.h"
#include "sim/reference/cell.h"

namespace logos::reference {

/// A value of all chips: one declaration and one cell a chip.
struct Parts {
  std::vector<const Value*> values;
  std::vector<const Cell*> cells;
};

/// Shows the named result of an operation, row after row, its parts joined in chip order.
/// `positions` holds that of each row of the result (empty where the cut has none).
void show_result(const Operation& operation, const Parts& parts,
                 std::span<const std::int64_t> positions, Observer& observer);

/// Shows scores, weights and weight_sum of an attention. `traces[chip]` is `[row][head]`.
void show_attention(const Operation& operation, const std::vector<std::vector<HeadTrace>>& traces,
                    std::span<const std::int64_t> positions, Observer& observer);

}  // namespace logos::reference
