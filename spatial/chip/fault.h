#pragma once

#include <span>
#include <string_view>

#include "spatial/chip/run.h"

namespace logos::spatial {

/// A fault that can be planted: `UNIT:KIND@CYCLE`.
struct FaultKind {
  std::string_view unit;  ///< "tile" stands for tile0, tile1, … of the first chip; "mesh" for
                          ///< mesh0, mesh1, …: the network of a chip
  std::string_view kind;
  std::string_view effect;  ///< what it does, for people
};

/// All of them, for `--list`.
std::span<const FaultKind> fault_kinds();

/// Plants what `--fault UNIT:KIND@CYCLE` asks for: it strikes at its first chance from that cycle
/// on. Throws Error naming what there is where the text names none, and where one is planted twice.
void plant_fault(std::string_view text, ChipRun& run);

}  // namespace logos::spatial
