#include "program/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace logos {

std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view bytes, std::size_t at, std::size_t length) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  if (length == 1) return first < 0x20 || first == 0x7F;
  return length == 2 && first == 0xC2 && static_cast<unsigned char>(bytes[at + 1]) < 0xA0;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length > 0 && !is_control(bytes, at, length)) {
      text += bytes.substr(at, length);
      at += length;
      continue;
    }
    for (const std::size_t end = at + std::max<std::size_t>(length, 1); at < end; ++at) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[at]));
    }
  }
  return text;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  // Back to the beginning of a character (at most three bytes, where it is UTF-8 at all).
  for (std::size_t back = 0; back < 3 && end > 0; ++back, --end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0u) != 0x80u) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace logos
