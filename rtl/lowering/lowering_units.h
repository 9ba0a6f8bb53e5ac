#pragma once

#include <cstdint>

#include "program/check.h"
#include "program/divide_up.h"

namespace logos::d5005 {

inline constexpr std::int64_t kLanes = 32;  ///< binary32 of a word of vector memory

/// A number of an instruction.
inline std::uint32_t narrow(std::int64_t value) {
  CHECK(value >= 0 && value < (std::int64_t{1} << 32));
  return static_cast<std::uint32_t>(value);
}

}  // namespace logos::d5005
