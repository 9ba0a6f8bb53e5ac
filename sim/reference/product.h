#pragma once

#include <cstdint>
#include <span>

#include "program/program.h"
#include "sim/reference/instructions.h"
#include "sim/reference/workers.h"
#include "sim/weights/store.h"

namespace logos::reference {

/// The exact sums of a matrix product (arithmetic.md, section 4):
/// `sums[r][n] = sum over the columns k of the share of c*q[n][k] * a[r][k]`, for the rows n of the
/// share. `a` is `[activation_rows, columns.size()]`, `sums` is `[activation_rows, rows.size()]`,
/// both row-major. The column share may begin and end inside a group of 32. Whatever the
/// instructions, the threads and the padding of the matrix, the sums are the same.
void exact_sums(const MatrixView& weights, Share rows, Share columns,
                std::span<const std::int16_t> a, std::int64_t activation_rows,
                std::span<std::int64_t> sums, Workers& workers,
                Instructions instructions = best_instructions());

}  // namespace logos::reference
