#include "spatial/lowering/groups.h"

#include <algorithm>

#include "program/shares.h"

namespace logos::spatial {
namespace {

/// The tiles of key head `head` of `heads`: a run of its own, or one tile that has others too.
Share tiles_of(std::int64_t head, std::int64_t heads, std::int64_t tiles) {
  if (tiles >= heads) return share_of(tiles, head, heads);
  std::int64_t tile = 0;
  while (share_of(heads, tile, tiles).end <= head) ++tile;
  return {tile, tile + 1};
}

Group group_of(const ModelShare& share, std::int64_t head, std::int64_t tiles) {
  const Share own = tiles_of(head, share.key_heads.size(), tiles);
  const std::int64_t first = (share.key_heads.begin + head) * share.query_group();
  const std::int64_t begin = std::max(first, share.query_heads.begin);
  const std::int64_t end = std::min(first + share.query_group(), share.query_heads.end);
  Group group;
  group.key_head = static_cast<std::int32_t>(head);
  group.first_tile = static_cast<std::int32_t>(own.begin);
  group.tiles = static_cast<std::int32_t>(own.size());
  group.first_query = static_cast<std::int32_t>(begin - share.query_heads.begin);
  group.queries = static_cast<std::int32_t>(end - begin);
  return group;
}

/// Each vector's owner is the tile with its first row; `first_row` counts in the partition.
void add_vectors(const Partition& rows, std::int64_t first_row, std::int64_t head_columns,
                 Group& group) {
  const auto add = [&](VectorKind kind, std::int32_t head) {
    const auto at = static_cast<std::int64_t>(group.vectors.size()) * head_columns + first_row;
    const auto after = std::upper_bound(rows.boundary.begin(), rows.boundary.end(), at);
    const auto owner = static_cast<std::int32_t>(after - rows.boundary.begin()) - 1;
    group.vectors.push_back({kind, head, owner});
  };
  for (std::int32_t q = 0; q < group.queries; ++q) add(VectorKind::kQuery, group.first_query + q);
  add(VectorKind::kKey, group.key_head);
  add(VectorKind::kValue, group.key_head);
}

}  // namespace

void deal_heads(StageBuilder& builder, const ModelShare& share) {
  Stage& stage = builder.stage();
  stage.query_heads = share.query_heads;
  stage.key_heads = share.key_heads;
  Partition rows;
  rows.boundary.assign(static_cast<std::size_t>(stage.tiles) + 1, 0);
  std::vector<std::int64_t> first_rows;
  std::int64_t at = 0;
  for (std::int64_t head = 0; head < share.key_heads.size(); ++head) {
    const Group group = group_of(share, head, stage.tiles);
    const std::int64_t own = (group.queries + 2) * share.head_columns;
    for (std::int32_t tile = 0; tile < group.tiles; ++tile) {
      const std::int64_t end = at + share_of(own, tile, group.tiles).end;
      rows.boundary[static_cast<std::size_t>(group.first_tile + tile) + 1] =
          static_cast<std::int32_t>(end);
    }
    first_rows.push_back(at);
    at += own;
    stage.groups.push_back(group);
  }
  for (std::size_t g = 0; g < stage.groups.size(); ++g) {
    add_vectors(rows, first_rows[g], share.head_columns, stage.groups[g]);
  }
  stage.projection = builder.partition(std::move(rows));
}

std::int64_t of_groups(const Stage& stage, std::int32_t tile,
                       const std::function<std::int64_t(const Group&)>& of_group) {
  std::int64_t sum = 0;
  for (const Group& group : stage.groups) {
    const bool serves = tile >= group.first_tile && tile < group.first_tile + group.tiles;
    if (serves) sum += of_group(group);
  }
  return sum;
}

std::int64_t of_owned(const Stage& stage, std::int32_t tile, bool queries_only,
                      const std::function<std::int64_t(const Group&)>& of_vector) {
  std::int64_t sum = 0;
  for (const Group& group : stage.groups) {
    for (const HeadVector& vector : group.vectors) {
      const bool counts = !queries_only || vector.kind == VectorKind::kQuery;
      if (counts && vector.owner == tile) sum += of_vector(group);
    }
  }
  return sum;
}

}  // namespace logos::spatial
