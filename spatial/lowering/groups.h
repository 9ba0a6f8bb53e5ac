#pragma once

#include "spatial/lowering/stage_builder.h"

namespace logos::spatial {

/// Deals this text chip's key heads over the tiles of a layer's stage: its groups, the owners of
/// their vectors and the partition of all their rows.
void deal_heads(StageBuilder& builder, const ModelShare& share);

/// What a tile has of something of which each group that it serves has so much.
std::int64_t of_groups(const Stage& stage, std::int32_t tile,
                       const std::function<std::int64_t(const Group&)>& of_group);

/// Head vectors of a kind, or of all kinds, that a tile owns, times what each of a group takes.
std::int64_t of_owned(const Stage& stage, std::int32_t tile, bool queries_only,
                      const std::function<std::int64_t(const Group&)>& of_vector);

}  // namespace logos::spatial
