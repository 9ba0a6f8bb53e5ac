#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace logos::reference {

/// A value of the program as one chip holds it. Which members are used follows from its kind.
struct Cell {
  std::vector<float> x;                ///< Rows `[rows, columns]`, Heads `[rows, heads, columns]`
  std::vector<std::int16_t> q;         ///< Block: the integers, shaped as x
  std::vector<std::int8_t> exponents;  ///< Block: one a row, or one a row and head; Sums: a row
  std::vector<std::int64_t> sums;      ///< Sums `[rows, columns]`
  std::vector<float> scales;           ///< Sums: D of each column
  std::vector<std::uint32_t> peaks;    ///< Peak: magnitude bits, one a row
  std::vector<bool> held;              ///< rows of Spread::kHeld: whether this chip holds it
};

/// Elements of a row of a value.
inline std::int64_t row_size(const Value& value) { return value.heads * value.columns; }

/// Blocks of 1 row or head, and their length: what a norm or a quantizer works on.
inline std::int64_t units_of(const Value& value) { return value.rows * value.heads; }

template <typename T>
std::span<T> part_of(std::vector<T>& all, std::int64_t index, std::int64_t size) {
  return std::span<T>(all).subspan(static_cast<std::size_t>(index * size),
                                   static_cast<std::size_t>(size));
}
template <typename T>
std::span<const T> part_of(const std::vector<T>& all, std::int64_t index, std::int64_t size) {
  return std::span<const T>(all).subspan(static_cast<std::size_t>(index * size),
                                         static_cast<std::size_t>(size));
}

}  // namespace logos::reference
