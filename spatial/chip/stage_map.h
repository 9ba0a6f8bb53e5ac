#pragma once

#include <cstdint>
#include <vector>

#include "spatial/chip/message.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// A head vector of a stage and where it stands.
struct PlacedVector {
  HeadVector vector;
  std::int32_t group = 0;
  std::int64_t first_unit = 0;   ///< of the projection partition
  std::int64_t row = 0;          ///< first row of its matrix
  std::int64_t vectors_at = 0;   ///< bytes into a row of the owner's `vectors`
  std::int64_t query = 0;        ///< of its group, from 0 (queries)
  std::int64_t partials_at = 0;  ///< bytes into a row of the owner's `partials` (queries)
};

/// A group as one of its tiles sees it.
struct ServedGroup {
  std::int32_t group = 0;
  std::int32_t index = 0;        ///< of the tile in the group
  std::int64_t first_query = 0;  ///< of all queries that the tile serves
  std::int64_t queries_at = 0;   ///< bytes into a row of `queries`
  std::int64_t peaks_at = 0;     ///< bytes into a row of `peaks`
};

struct TileMap {
  Node node = 0;
  std::vector<ServedGroup> groups;
  std::int64_t queries = 0;         ///< of all its groups
  std::vector<std::int32_t> owned;  ///< into StageMap::vectors
};

/// What follows from a stage's tables: where each tile and each head vector stands.
struct StageMap {
  StageMap(const Stage& stage, std::int64_t head_columns, const MeshConfig& mesh);

  std::int32_t tile_at(Node node) const;  ///< -1: none of the stage's
  /// The nodes of tiles [first, first + count) but for one (-1: all), ascending.
  Nodes nodes_but(std::int32_t first, std::int32_t count, std::int32_t but) const;

  std::vector<PlacedVector> vectors;
  std::vector<TileMap> tiles;

 private:
  void place_vectors(const Stage& stage, std::int64_t head_columns);
  void place_groups(const Stage& stage, std::int64_t head_columns);

  std::int32_t x_, y_, width_, height_, mesh_width_;
};

/// Entries of a cache that a tile of a group holds of positions [first, last] (from 0): the tile
/// `index` of `tiles` has every tiles-th position. [begin, end).
Share entries_of(std::int64_t first, std::int64_t last, std::int64_t index, std::int64_t tiles);

}  // namespace logos::spatial
