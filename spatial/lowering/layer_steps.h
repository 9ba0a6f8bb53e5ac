#pragma once

#include "spatial/lowering/stage_builder.h"

namespace logos::spatial {

/// Indices into a layer's tables that the stage itself does not name.
struct LayerParts {
  bool split = false;
  std::int64_t attention_columns = 0;  ///< of this text chip
  int output = -1, hidden = -1;        ///< partitions
  int output_matrix = -1, gate = -1, up = -1, down = -1;
  int input_gain = -1, post_gain = -1;
};

/// Appends the schedule of a layer (spatial/README.md, "A row's way through a layer"). `show`: the
/// operation that shows its rows; -1 where they go on to the next stage.
void add_layer_steps(StageBuilder& builder, const LayerParts& parts, const LayerStructure& layer,
                     int show);

/// Receives a block's rows: entry, then everywhere.
void add_arrival(StageBuilder& builder, int operation);

}  // namespace logos::spatial
