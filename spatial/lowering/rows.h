#pragma once

#include "spatial/lowering/model_share.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

inline constexpr std::int64_t kValueBytes = 4;    ///< binary32
inline constexpr std::int64_t kIntegerBytes = 2;  ///< of a Block

/// Bytes of a row as a stage of this kind is given it (Buffers::entry).
inline std::int64_t row_bytes(const ModelShare& share, StageKind kind) {
  const std::int64_t rotary = kind == StageKind::kHead ? 0 : share.head_columns * kValueBytes;
  const std::int64_t x = kind == StageKind::kEmbedding ? 0 : share.columns * kValueBytes;
  return static_cast<std::int64_t>(sizeof(Heading)) + rotary + x;
}

}  // namespace logos::spatial
