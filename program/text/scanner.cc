#include "program/text/scanner.h"

#include <fmt/format.h>

#include "program/decimal.h"
#include "program/error.h"

namespace logos {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::string_view kSigns = "()[],.:;+*#";

}  // namespace

Scanner::Scanner(const Source& source) : source_(source) {
  if (source.text.size() <= kMostTextBytes) return;
  throw Error(source.file, "too large for a program", fmt::format("{} bytes", source.text.size()),
              fmt::format("at most {} bytes", kMostTextBytes));
}

char Scanner::at(std::size_t position) const {
  return position < source_.text.size() ? source_.text[position] : '\0';
}

Place Scanner::place(std::size_t position) const {
  return {line_, static_cast<int>(position - line_begin_) + 1};
}

Token Scanner::take(Token::Kind kind, std::size_t length) {
  Token token;
  token.kind = kind;
  token.place = place(position_);
  token.text = source_.text.substr(position_, length);
  position_ += length;
  return token;
}

Token Scanner::end_of_line() {
  const Token token = take(Token::Kind::kEndOfLine, 1);
  if (line_ == kMostLines) {
    refuse(source_, token.place, fmt::format("more than {} lines", kMostLines), "a program");
  }
  ++line_;
  line_begin_ = position_;
  at_line_begin_ = true;
  return token;
}

void Scanner::skip_blank_lines() {
  while (position_ < source_.text.size()) {
    std::size_t end = position_;
    while (at(end) == ' ') ++end;
    if (at(end) != '\n') return;
    position_ = end;
    end_of_line();
  }
}

Token Scanner::number() {
  std::size_t end = position_;
  while (is_digit(at(end))) ++end;
  const bool decimal = at(end) == '.' && is_digit(at(end + 1));
  if (decimal) {
    for (++end; is_digit(at(end));) ++end;
  }
  Token token = take(decimal ? Token::Kind::kDecimal : Token::Kind::kInt, end - position_);
  const auto value = read_decimal(token.text);
  if (!value || *value > static_cast<double>(kMostInteger)) {
    refuse(source_, token.place, quote(token.text), fmt::format("a number to {}", kMostInteger));
  }
  token.decimal = *value;
  if (!decimal) {
    for (const char c : token.text) token.integer = token.integer * 10 + (c - '0');
  }
  return token;
}

Token Scanner::string() {
  const std::size_t begin = position_ + 1;
  std::size_t end = begin;
  for (; at(end) != '"'; ++end) {
    const auto byte = static_cast<unsigned char>(at(end));
    if (end >= source_.text.size()) refuse(source_, place(end), "end of text", "the closing quote");
    if (byte == '\n') refuse(source_, place(end), "end of line", "the closing quote");
    if (byte < 0x20 || byte == 0x7F) {
      refuse(source_, place(end), quote(source_.text.substr(end, 1)), "a printed character");
    }
  }
  Token token = take(Token::Kind::kString, end + 1 - position_);
  token.text = source_.text.substr(begin, end - begin);
  return token;
}

Token Scanner::sign() {
  const char c = at(position_);
  if (c == '-' && at(position_ + 1) == '>') return take(Token::Kind::kSign, 2);
  if (c == '#' && at(position_ + 1) == '#') return take(Token::Kind::kSign, 2);
  if (c != '\0' && kSigns.find(c) != std::string_view::npos) return take(Token::Kind::kSign, 1);
  refuse(source_, place(position_), quote(source_.text.substr(position_, 1)),
         c == '\r' ? "end of line" : "a word, a number, a string or a sign");
}

Token Scanner::next() {
  int indent = -1;
  if (at_line_begin_) {
    skip_blank_lines();
    indent = 0;
    while (at(position_) == ' ') {
      ++position_;
      ++indent;
    }
    at_line_begin_ = false;
  }
  while (at(position_) == ' ') ++position_;
  Token token;
  if (position_ >= source_.text.size()) {
    token.place = place(position_);
    token.text = {};
  } else if (at(position_) == '\n') {
    token = end_of_line();
  } else if (is_digit(at(position_))) {
    token = number();
  } else if (at(position_) == '"') {
    token = string();
  } else if (is_letter(at(position_))) {
    std::size_t end = position_;
    while (is_letter(at(end)) || is_digit(at(end)) || at(end) == '\'') ++end;
    token = take(Token::Kind::kWord, end - position_);
  } else {
    token = sign();
  }
  token.indent = indent;
  return token;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEndOfLine:
      return "end of line";
    case Token::Kind::kEndOfText:
      return "end of text";
    case Token::Kind::kString:
      return fmt::format("the string {}", quote(token.text));
    case Token::Kind::kWord:
    case Token::Kind::kInt:
    case Token::Kind::kDecimal:
    case Token::Kind::kSign:
      return quote(token.text);
  }
  return "";
}

}  // namespace logos
