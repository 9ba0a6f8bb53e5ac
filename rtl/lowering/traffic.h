#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "rtl/lowering/plan.h"
#include "sim/inputs.h"

namespace logos::d5005 {

/// The work of a run of a plan, over all boards.
struct Traffic {
  /// Useful bytes that pass a bank, of all boards: of each pass the matrices (int8 weights, a
  /// multiplier a group of 32, a scale a row, biases) and gains; embedding rows by token; rotary
  /// and given rows; the cached positions that are visible, read once a row, and those pushed;
  /// rows, peaks, sums and row scales that boards read of what they exchanged. No padding.
  std::array<std::uint64_t, kBanks> ddr{};
  std::uint64_t weight_bytes = 0;  ///< of these, the matrices'
  std::uint64_t weight_macs = 0;   ///< products of a weight with an activation
  std::uint64_t macs = 0;          ///< and of keys and values

  /// What of it an operation (into Plan::lines) makes; together they make all.
  struct Part {
    std::uint64_t bytes = 0;
    std::uint64_t macs = 0;
  };
  std::map<std::uint32_t, Part> by_operation;
};

/// The operation of a segment's last instruction before its OpEnd: what the exchange after it is
/// of.
std::uint32_t last_operation(const BoardPlan& board, std::size_t segment);

Traffic traffic_of(const Plan& plan, const Inputs& inputs);

}  // namespace logos::d5005
