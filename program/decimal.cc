#include "program/decimal.h"

#include <array>
#include <charconv>
#include <cmath>

#include "program/check.h"

namespace logos {

std::string shortest_decimal(double value) {
  CHECK(std::isfinite(value) && !std::signbit(value));
  // The longest binary64 without an exponent: 2^-1074 takes 326 characters.
  std::array<char, 512> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  CHECK(error == std::errc());
  return {buffer.data(), end};
}

std::optional<double> read_decimal(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace logos
