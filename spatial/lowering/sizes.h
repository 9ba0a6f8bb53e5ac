#pragma once

#include <cstdint>
#include <vector>

#include "spatial/chip_config.h"
#include "spatial/lowering/model_share.h"
#include "spatial/lowering/stage_tables.h"

namespace logos::spatial {

/// Rows that go through a stage together, and blocks of them at once.
struct Blocks {
  std::int32_t rows = 1;
  std::int32_t slots = 1;
};

/// Bytes of a tile, for the text chip that needs most.
struct StageBytes {
  std::int64_t held = 0;
  std::int64_t used = 0;
};

/// What the stages of a model take of a tile, asked before they are placed.
class Sizes {
 public:
  Sizes(const Facts& facts, const ChipConfig& config);

  const std::vector<ModelShare>& shares() const { return shares_; }
  const ModelShare& share() const { return shares_.front(); }

  StageBytes layer(std::int32_t tiles, Blocks blocks, std::int64_t capacity) const;
  StageBytes head(std::int32_t tiles, Blocks blocks) const;
  /// With its own table and its rows shown, or beside the head that has the table.
  StageBytes embedding(std::int32_t tiles, Blocks blocks, bool own_table) const;

  /// Blocks to try, the largest first, down to one row and one slot.
  std::vector<Blocks> blocks() const;
  /// Those of a stage that `rows` rows come through.
  static Blocks of_rows(Blocks blocks, std::int64_t rows);
  /// The least that caches may hold: the cut's positions; or, for a chunk, which may continue a
  /// sequence, its rows and as many before them.
  std::int64_t least_capacity() const;

  /// Tiles that a layer's or a table's stage can use: each has a row of every matrix.
  std::int32_t most_layer_tiles() const;
  std::int32_t most_table_tiles() const;
  /// Key heads of the text chip that has most.
  std::int32_t key_heads() const;

 private:
  std::vector<ModelShare> shares_;
  const ChipConfig& config_;
};

}  // namespace logos::spatial
