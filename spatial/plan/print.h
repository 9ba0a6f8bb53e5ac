#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

// For people. Layers count from 1; tiles, chips, text chips, rows, columns and heads from 0.

std::string_view name_of(Opcode opcode);  ///< "wait_entry"
/// "embedding", "layer 3", "head"; of a split program "layer 3 of text chip 1".
std::string title_of(const Plan& plan, const Stage& stage);

/// The chips in use, each as a map of its tiles (E, the layer's number, H; `+` after it where a
/// tile has several stages) and the stages there: rectangle, and what they take of each tile.
std::string print_placement(const Plan& plan, const ChipConfig& config);

/// What one tile of a stage holds, where, and its steps, one a line. Tiles count row by row in the
/// stage's rectangle, from 0.
std::string print_schedule(const Plan& plan, const Stage& stage, std::int32_t tile);

}  // namespace logos::spatial
