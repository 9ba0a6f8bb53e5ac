#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "rtl/lowering/instruction.h"

namespace logos::d5005 {

/// The end of an instruction that was emitted: so many of its unit have ended in this pass.
struct Ended {
  Unit unit = Unit::kRows;
  int count = 0;
};

/// Collects a pass's instructions and says for each how many of every unit must have ended.
class Emitter {
 public:
  /// Appends the instruction, which starts after all of `after` have ended (one that was never
  /// emitted, count 0, asks for nothing).
  Ended emit(Op op, Instruction instruction, std::initializer_list<Ended> after);

  /// Appends OpEnd and gives the program.
  std::vector<Instruction> finish();

 private:
  std::vector<Instruction> program_;
  std::array<int, kUnits> emitted_{};
};

}  // namespace logos::d5005
