#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rtl/lowering/instruction.h"

namespace logos::d5005 {

/// The end of an instruction that was emitted: so many of its unit have ended in this pass.
struct Ended {
  Unit unit = Unit::kRows;
  int count = 0;
  std::size_t segment = 0;
};

/// Collects a pass's instructions and says for each how many of every unit must have ended. The
/// instructions may be cut into segments: when one starts, all before it have ended.
class Emitter {
 public:
  /// Appends the instruction, which starts after all of `after` have ended (one that was never
  /// emitted, count 0, asks for nothing).
  Ended emit(Op op, Instruction instruction, std::initializer_list<Ended> after);

  /// Appends OpEnd; what follows is another segment's.
  void end_segment();

  /// All instructions, and where each segment of them ends.
  std::vector<Instruction> take() { return std::move(program_); }
  const std::vector<std::int64_t>& segment_ends() const { return ends_; }

 private:
  std::vector<Instruction> program_;
  std::vector<std::int64_t> ends_;
  std::array<int, kUnits> emitted_{};
};

}  // namespace logos::d5005
