#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/observer.h"

namespace logos {

/// Where an operation stands in a whole program: before the layers, in one, or after them; there,
/// in the documented order of operations (golden/README.md). Sorts in program order.
struct OperationPlace {
  std::int64_t layer = 0;  ///< 0 before the layers, from 1 in them, INT64_MAX after them
  int rank = 0;            ///< in the documented order
  bool operator==(const OperationPlace&) const = default;
  bool operator<(const OperationPlace& other) const {
    return layer != other.layer ? layer < other.layer : rank < other.rank;
  }
};

/// The place of a named operation. The name is one of the documented ones (CHECK). `layer` counts
/// from 1; 0 outside the layers, as observed.
OperationPlace place_of(std::string_view name, std::int64_t layer);

/// The documented name at a rank.
std::string_view operation_at(int rank);

/// An element as the golden files write it: the bit pattern in upper-case hex, most significant
/// digit first, as wide as the type; two's complement for integers.
std::string hex_of(ElementType type, std::span<const std::byte> values, std::size_t index);

}  // namespace logos
