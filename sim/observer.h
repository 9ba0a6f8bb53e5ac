#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace logos {

enum class ElementType { kF32, kI16, kI32, kI64 };
std::string_view name_of(ElementType type);  ///< "f32", "i16", "i32", "i64"
std::size_t bytes_of(ElementType type);

/// The result of one named operation for one row, whole: a split program's parts are joined in
/// order (a key head held by two chips stands once).
struct Observation {
  std::string_view name;      ///< golden/README.md: "q.rope", "attention.q16", "scores", …
  std::int64_t layer = 0;     ///< from 1; 0 outside the layers
  int line = 0;               ///< of the placeholder form
  std::int64_t row = 0;       ///< of the cut, from 0 (after `last_row`: 0)
  std::int64_t position = 0;  ///< of that row, from 1; 0 where the cut has none
  ElementType type = ElementType::kF32;
  std::span<const std::byte> values;       ///< little-endian, in the order of golden/README.md
  std::span<const std::int8_t> exponents;  ///< for "….q16": one, or one a head
};

/// Sees every named operation of a run. Lanes call it only where one is given.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void observe(const Observation& observation) = 0;
};

}  // namespace logos
