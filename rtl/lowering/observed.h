#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rtl/lowering/plan.h"
#include "sim/inputs.h"
#include "sim/observer.h"

namespace logos::d5005 {

/// A part of an operation's row in the output buffer: `blocks` times `elements`, one after the
/// other.
struct ObservedPiece {
  std::size_t run = 0;           ///< of ObservedPlan::runs
  std::size_t board = 0;         ///< whose output buffer
  std::int64_t offset = 0;       ///< 64-byte units: row 0 of the run
  std::int64_t lines = 0;        ///< 64-byte units of a row
  std::int64_t skip = 0;         ///< bytes in front of the first block's first element
  std::int64_t blocks = 1;       ///< heads, or quads
  std::int64_t block_bytes = 0;  ///< from one block to the next
  std::int64_t elements = 0;     ///< of a block
  std::int64_t count = 0;        ///< of all blocks; the last may hold fewer
  std::int64_t drop = 0;         ///< of these, the first that are none of the operation's
  std::int64_t exponent_at = 0;  ///< bytes from a block's begin to its exponent; 0: it has none
  bool visible = false;          ///< a block holds the positions that the row sees, `elements` not
};

/// A named operation and where its values lie.
struct ObservedOperation {
  std::string name;
  std::int64_t layer = 0;
  std::int64_t line = 0;
  ElementType type = ElementType::kF32;
  std::int64_t rows = 0;  ///< those of the run, or 1: its last
  bool held = false;      ///< a row is the piece of the board that holds its token, not all pieces
  std::vector<ObservedPiece> pieces;
};

/// A plan whose run shows every named operation as the engine computed it.
struct ObservedPlan {
  /// Each does all that the plan does and stores, behind the plan's own outputs, a part of what is
  /// to be seen. More than one only where the program memory does not hold all of it.
  std::vector<Plan> runs;
  std::vector<ObservedOperation> operations;  ///< in the program's order
  std::int64_t window = 0;                    ///< sliding window of attention; 0: none
};

/// The plan's instructions one after the other, and between them those that store each named
/// operation; what one instruction does at once is done again in parts. What several boards hold
/// parts of, each stores; what all hold whole, the first. `positions`: those of the inputs. Throws
/// Error for what the engine cannot show and for a damaged plan.
ObservedPlan observe(const Plan& plan, std::span<const std::int64_t> positions);

/// Shows the operations in the program's order, row after row. `outputs`: the output buffers that
/// each of the runs left, `host_units` lines of its plan: one, or on several boards those of all
/// boards for each pass. `inputs`: tokens and positions of the run.
void hand_over(const ObservedPlan& observed, std::span<const std::vector<std::byte>> outputs,
               const Inputs& inputs, Observer& observer);

}  // namespace logos::d5005
