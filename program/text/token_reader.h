#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "program/text/scanner.h"

namespace logos {

/// A text's tokens with one to look at, and what both halves of the parser ask of them. Every
/// refusal is `file:line:column: found X, expected Y`.
class TokenReader {
 public:
  explicit TokenReader(const Source& source);

  const Source& source() const { return source_; }
  const Token& peek() const { return token_; }
  Place place() const { return token_.place; }
  Token take();

  bool at_word(std::string_view word) const;
  bool at_sign(std::string_view sign) const;
  bool at_end() const { return token_.kind == Token::Kind::kEndOfText; }
  bool skip_word(std::string_view word);
  bool skip_sign(std::string_view sign);

  /// Each word or sign of `words` in turn: "is its share of", "->", ",".
  void expect(std::string_view words);
  std::int64_t expect_int();
  std::string expect_string();
  /// A name that the program gives: lower case, digits, `_`.
  std::string expect_name();
  void expect_end_of_line();

  [[noreturn]] void fail(std::string_view expected) const;

 private:
  Source source_;
  Scanner scanner_;
  Token token_;
};

}  // namespace logos
