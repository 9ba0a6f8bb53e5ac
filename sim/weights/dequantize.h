#pragma once

#include <cstdint>
#include <span>

#include "sim/weights/store.h"

namespace logos {

/// Row `row` (from 0) of a quantized matrix as the numbers it stands for: q * c * D, exact in
/// binary64 (8 + 8 + 24 bits; in profile B 8 + 26). `values` has the matrix's columns.
void dequantize_row(const MatrixView& matrix, std::int64_t row, std::span<double> values);

}  // namespace logos
