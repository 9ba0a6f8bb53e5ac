#pragma once

#include <cstdint>

namespace logos::cuda::host {

/// What one lane brings to `mma.sync.aligned.m16n8k32.row.col.s32.{s8,u8}.s8.s32`: its registers
/// in PTX's fragment layout. `tiles` products share A: B has 2 and the accumulators 4 registers a
/// tile.
struct MmaOperands {
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
  std::int32_t* accumulators = nullptr;
};

/// Adds A (16 x 32) times B (32 x 8) of each tile to the accumulators of all 32 lanes, modulo 2^32.
void multiply_fragments(const MmaOperands (&lanes)[32], int tiles, bool a_unsigned);

}  // namespace logos::cuda::host
