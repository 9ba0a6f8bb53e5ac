#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace logos::mutation {

struct Token {
  enum class Kind { kWord, kNumber, kText, kSymbol };
  Kind kind;
  std::string_view text;
  std::size_t begin;  ///< byte of the file
  int line;           ///< from 1

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view what) const { return text == what; }
};

/// A file's tokens, without comments and directives and what is for synthesis alone.
std::vector<Token> tokens_of(std::string_view source);

/// Tokens on one line, a space between where they would run into one another or read badly.
std::string joined(const std::vector<Token>& tokens, std::size_t first, std::size_t last);

}  // namespace logos::mutation
