#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace logos {

/// The shortest decimal without an exponent that reads back to the same binary64 (`0.00001`,
/// `500000`). `value` is finite and not negative.
std::string shortest_decimal(double value);

/// The binary64 nearest to a decimal of digits with at most one point, as `shortest_decimal`
/// writes them; null for anything else, or where it overflows.
std::optional<double> read_decimal(std::string_view text);

}  // namespace logos
