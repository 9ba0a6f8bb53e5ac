#include "rtl/lowering/emitter.h"

#include <algorithm>

namespace logos::d5005 {
namespace {

/// Counts are compared modulo 256: what a need names lies less than 128 behind. An older need is
/// replaced by a later instruction of the same unit, which ends after it.
constexpr int kOldest = 100;

}  // namespace

Ended Emitter::emit(Op op, Instruction instruction, std::initializer_list<Ended> after) {
  instruction.op = static_cast<std::uint32_t>(op);
  // What has ended long ago is asked for all the same: a need of 0 would be "128 behind" once the
  // count has passed 127.
  std::array<int, kUnits> need{};
  for (const Ended& ended : after) {
    if (ended.segment != ends_.size()) continue;
    int& of_unit = need[static_cast<std::size_t>(ended.unit)];
    of_unit = std::max(of_unit, ended.count);
  }
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    need[unit] = std::max(need[unit], emitted_[unit] - kOldest);
    instruction.need[unit] = static_cast<std::uint8_t>(need[unit]);
  }
  program_.push_back(instruction);
  const Unit unit = unit_of(op);
  return {unit, ++emitted_[static_cast<std::size_t>(unit)], ends_.size()};
}

void Emitter::end_segment() {
  program_.push_back({});
  ends_.push_back(static_cast<std::int64_t>(program_.size()));
  emitted_ = {};
}

}  // namespace logos::d5005
