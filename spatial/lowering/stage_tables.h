#pragma once

#include <cstdint>
#include <string>

#include "sim/structure.h"
#include "spatial/lowering/model_share.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// What the tables of a stage depend on beside the model's sizes.
struct StageShape {
  std::int32_t width = 1;
  std::int32_t height = 1;
  std::int32_t tiles = 1;
  std::int32_t block_rows = 1;
  std::int32_t slots = 1;     ///< blocks of rows at once, where there are so many
  std::int64_t capacity = 0;  ///< positions of a cache
  std::int64_t base = 0;      ///< first byte of a tile's SRAM
};

/// The operations that a stage works for; none where only its sizes are asked for.
struct StageSource {
  const Program* program = nullptr;
  const LayerStructure* layer = nullptr;
  const HeadStructure* head = nullptr;
  int embedded = -1;
  int held = -1;          ///< held_over_chips of an embedding
  int show = -1;          ///< of a stage whose rows are shown
  bool own_table = true;  ///< an embedding's table is not the head's
};

// A stage with its matrices, partitions, groups, areas, buffers and steps; `chip`, `x`, `y`, `next`
// and `peers` are not set. `used_bytes` says what it takes of each tile, also without a source.

Stage layer_stage(const ModelShare& share, const StageShape& shape, const StageSource& source);
Stage head_stage(const ModelShare& share, const StageShape& shape, const StageSource& source);
Stage embedding_stage(const ModelShare& share, const StageShape& shape, const StageSource& source);

}  // namespace logos::spatial
