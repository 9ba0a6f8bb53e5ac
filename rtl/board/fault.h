#pragma once

#include <span>
#include <string_view>

#include "rtl/board/board.h"

namespace logos::d5005 {

/// A fault that can be planted: `UNIT:KIND@CYCLE`.
struct FaultKind {
  std::string_view unit;  ///< "bank" stands for bank0 to bank3
  std::string_view kind;
  PortFault fault;
  std::string_view effect;  ///< what it does, for people
};

/// All of them, for `--list`.
std::span<const FaultKind> fault_kinds();

/// Plants what `--fault UNIT:KIND@CYCLE` asks for. CYCLE counts the unit's own clock from power-up
/// on. Throws Error naming what there is where the text names none.
void plant_fault(std::string_view text, BoardOptions& options);

}  // namespace logos::d5005
