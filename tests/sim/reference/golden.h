#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace logos {

/// A file of known answers.
inline nlohmann::json golden(const std::string& name) {
  const std::string path = std::string(LOGOS_SHARED_DIR) + "/golden/" + name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(in);
}

inline std::uint32_t bits_of_hex(const std::string& hex) {
  return static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16));
}
inline float float_of_hex(const std::string& hex) { return std::bit_cast<float>(bits_of_hex(hex)); }

}  // namespace logos
