#include "spatial/chip/stage_map.h"

#include <algorithm>

#include "program/divide_up.h"

namespace logos::spatial {

StageMap::StageMap(const Stage& stage, std::int64_t head_columns, const MeshConfig& mesh)
    : x_(stage.x),
      y_(stage.y),
      width_(stage.width),
      height_(stage.height),
      mesh_width_(mesh.width) {
  tiles.resize(static_cast<std::size_t>(stage.tiles));
  for (std::int32_t tile = 0; tile < stage.tiles; ++tile) {
    tiles[static_cast<std::size_t>(tile)].node =
        (y_ + tile / width_) * mesh_width_ + x_ + tile % width_;
  }
  place_vectors(stage, head_columns);
  place_groups(stage, head_columns);
}

void StageMap::place_vectors(const Stage& stage, std::int64_t head_columns) {
  std::vector<std::int64_t> vectors_at(tiles.size());
  std::vector<std::int64_t> partials_at(tiles.size());
  for (std::size_t g = 0; g < stage.groups.size(); ++g) {
    const Group& group = stage.groups[g];
    for (const HeadVector& vector : group.vectors) {
      const auto owner = static_cast<std::size_t>(vector.owner);
      PlacedVector placed;
      placed.vector = vector;
      placed.group = static_cast<std::int32_t>(g);
      placed.first_unit = static_cast<std::int64_t>(vectors.size()) * head_columns;
      const bool is_query = vector.kind == VectorKind::kQuery;
      const Share& heads = is_query ? stage.query_heads : stage.key_heads;
      placed.row = (heads.begin + vector.head) * head_columns;
      placed.vectors_at = vectors_at[owner];
      vectors_at[owner] += head_columns * std::int64_t{sizeof(float)};
      if (is_query) {
        placed.query = vector.head - group.first_query;
        placed.partials_at = partials_at[owner];
        partials_at[owner] += group.tiles * (1 + head_columns) * std::int64_t{8};
      }
      tiles[owner].owned.push_back(static_cast<std::int32_t>(vectors.size()));
      vectors.push_back(placed);
    }
  }
}

void StageMap::place_groups(const Stage& stage, std::int64_t head_columns) {
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    TileMap& tile = tiles[t];
    std::int64_t queries_at = 0;
    std::int64_t peaks_at = 0;
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      const Group& group = stage.groups[g];
      const std::int32_t index = static_cast<std::int32_t>(t) - group.first_tile;
      if (index < 0 || index >= group.tiles) continue;
      tile.groups.push_back(
          {static_cast<std::int32_t>(g), index, tile.queries, queries_at, peaks_at});
      tile.queries += group.queries;
      queries_at += group.queries * (2 * head_columns + 1);
      peaks_at += group.tiles * (group.queries + 1) * std::int64_t{4};
    }
  }
}

std::int32_t StageMap::tile_at(Node node) const {
  const std::int32_t x = node % mesh_width_ - x_;
  const std::int32_t y = node / mesh_width_ - y_;
  if (x < 0 || x >= width_ || y < 0 || y >= height_) return -1;
  const std::int32_t tile = y * width_ + x;
  return tile < static_cast<std::int32_t>(tiles.size()) ? tile : -1;
}

Nodes StageMap::nodes_but(std::int32_t first, std::int32_t count, std::int32_t but) const {
  auto nodes = std::make_shared<std::vector<Node>>();
  for (std::int32_t tile = first; tile < first + count; ++tile) {
    if (tile != but) nodes->push_back(tiles[static_cast<std::size_t>(tile)].node);
  }
  std::sort(nodes->begin(), nodes->end());
  return nodes;
}

Share entries_of(std::int64_t first, std::int64_t last, std::int64_t index, std::int64_t tiles) {
  const auto before = [&](std::int64_t position) {  // entries of positions below
    return divide_up(position - index, tiles);
  };
  return {first <= index ? 0 : before(first), last < index ? 0 : before(last + 1)};
}

}  // namespace logos::spatial
