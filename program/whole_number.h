#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace logos {

/// Whether a number is written with a zero too many in front (which elsewhere means octal).
inline bool has_leading_zero(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  return digits.size() > 1 && digits.front() == '0';
}

/// Reads a whole number as commands and lists take it: decimal digits in the one way to write them,
/// so without a leading zero, and nothing else. Returns errc{}, result_out_of_range where `Number`
/// cannot hold it, or invalid_argument.
template <typename Number>
std::errc read_whole_number(std::string_view text, Number& value) {
  if (has_leading_zero(text)) return std::errc::invalid_argument;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() ? code : std::errc::invalid_argument;
}

}  // namespace logos
