#pragma once

#include <cstdint>
#include <string>

#include "program/program.h"
#include "program/text/syntax.h"

namespace logos {

/// By what a value that is a part lies over the chips. A part by heads and one by plain columns
/// are different types: a plain share may cut a head.
enum class Unit { kNone, kColumns, kQueryHeads, kKeyHeads };

/// A value with all that the rules of the language ask of it.
struct Typed {
  Value value;
  Unit unit = Unit::kNone;

  bool same_type(const Typed& other) const;
};

/// An argument that a word does not take. The unroller turns it into an Error at its place.
struct TypeFault {
  int argument = 0;  ///< from 0
  std::string found;
  std::string expected;
};

/// "Rows [1, 2048]", "a part by query heads of Heads [1, 32, 64]": sizes of the whole.
std::string describe(const Typed& typed);

// The type that each word gives, sizes and place of this chip's share included. All throw
// TypeFault.
Typed given_rows(std::int64_t rows, std::int64_t columns);
Typed type_embedded(std::int64_t rows, const Matrix& weight, HeldShare share);
Typed type_rms_norm(const Typed& x, const Vector& gain);
Typed type_quantized(const Typed& x);
Typed type_product(const Typed& block, const Matrix& weight, HeldShare share);
Typed type_sums(const Typed& block, const Matrix& weight, HeldShare share);
Typed type_scaled(const Typed& sums);
Typed type_with_bias(const Typed& y, const Vector& bias, HeldShare share);
Typed type_heads(const Typed& x, std::int64_t columns, std::int64_t head_columns);
Typed type_rotated(const Typed& heads, std::int64_t head_columns);
void type_push(const Typed& block, const Cache& cache, HeldShare share);
Typed type_attended(const Typed& block, std::int64_t query_heads, const Cache& keys,
                    const Cache& values, HeldShare share);
Typed type_silu(const Typed& x);
Typed type_multiply(const Typed& x, const Typed& y);
Typed type_add(const Typed& x, const Typed& y);
Typed type_last_row(const Typed& x);
Typed type_peak(const Typed& x);
Typed type_quantized_at(const Typed& x, const Typed& peak);
Typed type_over_chips(Word word, const Typed& x);
/// What a function takes and gives, and what `Show` shows: whole Rows.
void type_whole_rows(const Typed& x);

}  // namespace logos
