#pragma once

#include <memory>

#include "rtl/board/board.h"

namespace logos::d5005 {

/// The board with a fault in the engine's registers, or a soft reset that nobody asked for. (A
/// clock that stands still is the board's own matter.)
std::unique_ptr<Board> with_register_fault(std::unique_ptr<Board> board, PlantedFault fault);

}  // namespace logos::d5005
