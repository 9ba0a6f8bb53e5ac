#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rtl/lowering/observed.h"

namespace logos::d5005 {

/// A piece and the operation that it is of.
struct AddedPiece {
  std::size_t operation = 0;
  ObservedPiece piece;  ///< its offset counts from the addition's first line
};

/// Instructions that show something, in front of one of the program's. They leave all that later
/// instructions read as it was.
struct Addition {
  std::size_t place = 0;                  ///< of the program's instruction
  std::vector<Instruction> instructions;  ///< host_offset counts from the addition's first line
  std::int64_t host_units = 0;
  std::vector<AddedPiece> pieces;
};

/// All additions to a board's program in the order of their places. The operations get their types
/// and rows, `board` the matrices without biases that the additions read.
std::vector<Addition> additions_of(const Plan& plan, std::size_t index,
                                   std::span<const std::int64_t> positions,
                                   std::vector<ObservedOperation>* operations, BoardPlan* board);

}  // namespace logos::d5005
