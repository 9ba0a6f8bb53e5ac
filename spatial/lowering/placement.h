#pragma once

#include <cstdint>
#include <vector>

#include "program/facts.h"
#include "spatial/chip_config.h"
#include "spatial/lowering/packing.h"
#include "spatial/lowering/sizes.h"

namespace logos::spatial {

/// Where the stages of a whole model lie on the physical chips of a text chip. All text chips use
/// the same places, each on chips of its own.
///
/// Placement `own`: a rectangle a stage; all layers have the same one. A layer takes layer_tiles
/// tiles or the fewest that hold it: as many for each of the text chip's key heads; a head, and an
/// embedding with a table of its own, head_tiles or the fewest that hold it and no fewer than a
/// layer. Weights fill a tile up to weight_bytes. Placement `shared`: all tiles of a chip for every
/// stage of it, one above the other in SRAM. Blocks become smaller before tiles or chips become
/// more.
///
/// It depends on nothing that the text of a part does not state: a layer's, head's or embedding's
/// place is that of the whole cut. (So a table comes after the layers, wherever it is read.)
struct Placement {
  std::int32_t layer_tiles = 0;
  std::int32_t table_tiles = 0;
  Blocks blocks;
  std::int64_t capacity = 0;  ///< positions of a cache
  std::int32_t parts = 0;     ///< physical chips of a text chip
  std::vector<StagePlace> layers;
  StagePlace embedding;
  StagePlace head;
};

/// Throws Error with the sizes where a stage does not fit a chip.
Placement place(const Facts& facts, const ChipConfig& config);

}  // namespace logos::spatial
