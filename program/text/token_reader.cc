#include "program/text/token_reader.h"

#include <algorithm>

namespace logos {

TokenReader::TokenReader(const Source& source)
    : source_(source), scanner_(source), token_(scanner_.next()) {}

Token TokenReader::take() {
  const Token token = token_;
  token_ = scanner_.next();
  return token;
}

bool TokenReader::at_word(std::string_view word) const {
  return token_.kind == Token::Kind::kWord && token_.text == word;
}

bool TokenReader::at_sign(std::string_view sign) const {
  return token_.kind == Token::Kind::kSign && token_.text == sign;
}

bool TokenReader::skip_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

bool TokenReader::skip_sign(std::string_view sign) {
  if (!at_sign(sign)) return false;
  take();
  return true;
}

void TokenReader::expect(std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (!skip_word(word) && !skip_sign(word)) fail(quote(word));
  }
}

std::int64_t TokenReader::expect_int() {
  if (token_.kind != Token::Kind::kInt) fail("a whole number");
  return take().integer;
}

std::string TokenReader::expect_string() {
  if (token_.kind != Token::Kind::kString) fail("a string");
  return std::string(take().text);
}

std::string TokenReader::expect_name() {
  const auto of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool is_name = token_.kind == Token::Kind::kWord && token_.text.front() != '_' &&
                       std::all_of(token_.text.begin(), token_.text.end(), of_name);
  if (!is_name) fail("a name");
  return std::string(take().text);
}

void TokenReader::expect_end_of_line() {
  if (at_end()) return;  // that its last line ends, too, is asked of the whole text
  if (token_.kind != Token::Kind::kEndOfLine) fail("end of line");
  take();
}

void TokenReader::fail(std::string_view expected) const {
  refuse(source_, token_.place, describe(token_), expected);
}

}  // namespace logos
