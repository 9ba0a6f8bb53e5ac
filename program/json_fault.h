#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace logos {

/// What the JSON library says of a fault, without its own number of it.
inline std::string json_fault(const nlohmann::json::exception& fault) {
  const std::string_view text = fault.what();
  const std::size_t end = text.find("] ");
  return std::string(text.starts_with("[json.exception.") && end != std::string_view::npos
                         ? text.substr(end + 2)
                         : text);
}

}  // namespace logos
