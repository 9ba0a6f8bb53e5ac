#pragma once

#include <cstdint>
#include <span>

#include "program/program.h"
#include "sim/inputs.h"

namespace logos::reference {

/// The work of a run as its program states it, over all chips.
struct Traffic {
  /// Useful bytes of memory: each matrix that an operation reads once (q, a multiplier a group of
  /// 32, a scale a row), an embedding's rows by token, the cached positions that are visible read
  /// once and those pushed written once. No padding, no intermediate values.
  std::uint64_t bytes = 0;
  /// Products of a weight, key or value with an activation.
  std::uint64_t macs = 0;
};

Traffic traffic_of(std::span<const Program> programs, const Inputs& inputs);
/// That of one operation on one chip.
Traffic traffic_of(const Program& program, const Operation& operation, const Inputs& inputs);

}  // namespace logos::reference
