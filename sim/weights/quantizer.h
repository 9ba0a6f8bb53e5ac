#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace logos {

/// One row of a matrix in profile A (arithmetic.md, section 3).
struct QuantizedRow {
  float scale = 0;                        ///< D
  std::vector<std::uint8_t> multipliers;  ///< c, one a group of 32
  std::vector<std::int8_t> q;
};

/// Throws Error (where = `tensor`) for a non-finite value or D > 2^20.
QuantizedRow quantize_row(std::span<const float> row, std::string_view tensor);

/// The same into memory of the caller: `multipliers` and `q` have the row's groups and columns.
/// Returns D.
float quantize_row_into(std::span<const float> row, std::span<std::uint8_t> multipliers,
                        std::span<std::int8_t> q, std::string_view tensor);

/// Holds a gain or bias to what arithmetic.md, section 3, admits: throws Error (where = `tensor`)
/// for a value that is not finite or beyond 2^40; subnormal values become +0.
void admit_vector(std::span<float> values, std::string_view tensor);

}  // namespace logos
