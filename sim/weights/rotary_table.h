#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program/model_spec.h"

namespace logos {

/// Cosines and sines of the positions asked for: `[positions, head_columns / 2]` each, binary32
/// nearest to the exact real value (arithmetic.md, section 7; MPFR at 256 bits).
struct RotaryTable {
  std::int64_t pairs = 0;  ///< head_columns / 2
  std::vector<float> cosines;
  std::vector<float> sines;
};

/// `positions` count from 1; position p uses the angles of p - 1.
RotaryTable rotary_table(const Rotary& rotary, std::int64_t head_columns,
                         std::span<const std::int64_t> positions);

/// SHA-256 over, per position, all cosines and then all sines, little-endian.
std::string rotary_sha256(const RotaryTable& table);

}  // namespace logos
