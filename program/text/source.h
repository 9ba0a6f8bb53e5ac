#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace logos {

/// A place in a LOGOS text: line and column from 1, the column in bytes.
struct Place {
  int line = 1;
  int column = 1;
};

/// A LOGOS text and the name under which errors speak of it.
struct Source {
  std::string_view text;
  std::string_view file;
};

/// Throws Error as `file:line:column: found X, expected Y`.
[[noreturn]] void refuse(const Source& source, Place place, std::string_view found,
                         std::string_view expected);

/// The place of a byte of a text.
Place place_of(std::string_view text, std::size_t position);

/// Some of a text between quotes, cut to a readable length, bytes that do not print as `\x0d`.
std::string quote(std::string_view text);

}  // namespace logos
