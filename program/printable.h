#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace logos {

/// Bytes of the well-formed UTF-8 character at `at`; 0 where none begins there (RFC 3629).
std::size_t utf8_length(std::string_view bytes, std::size_t at);

/// Whether the character of `length` bytes at `at` is a control character (C0, DEL or C1).
bool is_control(std::string_view bytes, std::size_t at, std::size_t length);

/// One line of valid UTF-8: each byte of a control character, and each that is no UTF-8, as `\x1b`.
/// What comes out of files and command lines may then go to a terminal or into a JSON string.
std::string escaped(std::string_view bytes);

/// The beginning of a text, at most `most` bytes and no part of a character; "…" where some is cut.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace logos
