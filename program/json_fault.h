#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "program/error.h"

namespace logos {

/// What the JSON library says of a fault, without its own number of it.
inline std::string json_fault(const nlohmann::json::exception& fault) {
  const std::string_view text = fault.what();
  const std::size_t end = text.find("] ");
  return std::string(text.starts_with("[json.exception.") && end != std::string_view::npos
                         ? text.substr(end + 2)
                         : text);
}

/// Refuses a text with a zero byte: the JSON library takes one as the end of the text and would
/// pass over whatever stands behind it.
inline void refuse_zero_byte(std::string_view text, std::string_view where) {
  const std::size_t at = text.find('\0');
  if (at == std::string_view::npos) return;
  throw Error(where, fmt::format("not JSON: a zero byte at byte {} of {}", at + 1, text.size()));
}

}  // namespace logos
