#include "program/text/source.h"

#include <fmt/format.h>

#include "program/error.h"

namespace logos {

void refuse(const Source& source, Place place, std::string_view found, std::string_view expected) {
  throw Error(fmt::format("{}:{}:{}", source.file, place.line, place.column),
              fmt::format("found {}, expected {}", found, expected));
}

Place place_of(std::string_view text, std::size_t position) {
  Place place;
  for (const char c : text.substr(0, position)) {
    ++place.column;
    if (c == '\n') place = {place.line + 1, 1};
  }
  return place;
}

std::string quote(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + (text.size() > kMost ? "…\"" : "\"");
}

}  // namespace logos
