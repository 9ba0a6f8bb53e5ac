#pragma once

#include <cstdint>
#include <string_view>

#include "program/text/source.h"

namespace logos {

struct Token {
  enum class Kind { kWord, kInt, kDecimal, kString, kSign, kEndOfLine, kEndOfText };
  Kind kind = Kind::kEndOfText;
  Place place;
  std::string_view text;     ///< as it stands; of a string, what is between the quotes
  std::int64_t integer = 0;  ///< kInt
  double decimal = 0;        ///< kInt, kDecimal
  int indent = -1;           ///< spaces before the first token of a line; -1 for the others
};

/// Cuts a text into tokens, one at a time. Blank lines and extra spaces pass here: that a text is
/// the canonical one is asked of the whole (`check_canonical`).
class Scanner {
 public:
  /// Throws Error where the text is larger than any program may be.
  explicit Scanner(const Source& source);
  /// Throws Error at a byte that begins no token.
  Token next();

 private:
  char at(std::size_t position) const;
  Place place(std::size_t position) const;
  void skip_blank_lines();
  Token end_of_line();
  Token take(Token::Kind kind, std::size_t length);
  Token number();
  Token string();
  Token sign();

  Source source_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  bool at_line_begin_ = true;
};

/// A token as errors name it: `"be"`, `end of line`.
std::string describe(const Token& token);

/// The largest whole number that a text may hold: 2^53.
inline constexpr std::int64_t kMostInteger = std::int64_t{1} << 53;
/// The largest text in bytes, and the most lines: far above any program of ours, and a bound on
/// what a hostile text can take.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 25;
inline constexpr int kMostLines = 10000;

}  // namespace logos
