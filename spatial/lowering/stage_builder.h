#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spatial/lowering/stage_tables.h"

namespace logos::spatial {

/// Collects a stage: its tables first, then its areas, laid one after the other. Area sizes are
/// those of the tile that needs most.
class StageBuilder {
 public:
  StageBuilder(StageKind kind, const ModelShare& share, const StageShape& shape,
               const StageSource& source);

  Stage& stage() { return stage_; }
  std::int32_t tiles() const { return stage_.tiles; }
  /// The largest of what the tiles have of something.
  std::int64_t most(const std::function<std::int64_t(std::int32_t tile)>& of_tile) const;

  /// Units shared out evenly over the tiles.
  int partition(Share units);
  int partition(Partition boundaries);
  Share of(int partition, std::int32_t tile) const;
  std::int64_t most_of(int partition) const;

  /// What an operation multiplies by; sizes as given, the name where there is a program.
  int matrix(int operation, std::int64_t rows, std::int64_t columns, Share column_share);
  int vector(int operation, std::int64_t size);
  /// Bytes that a tile holds of `rows` rows of a matrix: q, multipliers, scales.
  std::int64_t held(int matrix, std::int64_t rows) const;

  /// Memory that areas lie in, side by side or one over the other; it is as large as they need.
  int region(int slots, bool leader_only = false);
  /// An area for all rows of a block, `at` bytes into each slot of a region.
  int area(std::string name, int region, std::int64_t at, std::int64_t row_bytes);
  /// Where in a slot the next one may begin.
  std::int64_t end_of(int area) const;
  /// In a region of its own.
  int own_area(std::string name, std::int64_t row_bytes, int slots, bool leader_only = false);
  int slot_area(std::string name, std::int64_t row_bytes) {
    return own_area(std::move(name), row_bytes, shape_.slots);
  }
  /// For all blocks; the last of a stage.
  int last_area(std::string name, std::int64_t bytes);

  using BytesOfTile = std::function<std::int64_t(std::int32_t tile)>;
  /// A buffer of one chunk; a row in it has `row_bytes`, the largest of `expected` where left out.
  int buffer(int area, const BytesOfTile& expected, std::int64_t row_bytes = 0);
  /// With an area of its own.
  int buffer(const std::string& name, const BytesOfTile& expected);
  /// At the leader alone.
  int leader_buffer(const std::string& name, std::int64_t row_bytes, int slots);

  void step(Step step) { stage_.steps.push_back(std::move(step)); }
  void step(Opcode opcode, int operation = -1) { step({.opcode = opcode, .operation = operation}); }
  void wait(int buffer, int operation = -1, std::int32_t chunk = 0);
  void release(int buffer);

  /// Places areas after what is held and the schedule; the stage is complete.
  Stage finish(std::int64_t held_bytes);

 private:
  struct Region {
    int slots = 1;
    bool leader_only = false;
    bool is_last = false;
    std::int64_t bytes = 0;  ///< of a slot
    std::int64_t offset = 0;
  };
  /// Where an area lies.
  struct Spot {
    std::size_t region = 0;
    std::int64_t at = 0;
  };

  int add_area(std::string name, std::int64_t bytes, Spot spot);

  Stage stage_;
  std::vector<Region> regions_;
  std::vector<Spot> spots_;  ///< of the areas
  const StageShape& shape_;
  const Program* program_;
};

}  // namespace logos::spatial
