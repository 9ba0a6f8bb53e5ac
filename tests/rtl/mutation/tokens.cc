#include "tests/rtl/mutation/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace logos::mutation {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Longest first.
constexpr std::array<std::string_view, 23> kSymbols{
    "<<<", ">>>", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "+:", "-:",
    "->",  "::",  "++", "--", "+=", "-=", "|=", "&=", "**", "~^", ".*"};

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::vector<Token> scan() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (source_.substr(at_, 2) == "//") {
        skip_line();
      } else if (source_.substr(at_, 2) == "/*") {
        skip_comment();
      } else if (c == '`') {
        take_directive();
      } else if (is_word(c) || c == '\'' || c == '"') {
        take_word();
      } else {
        take_symbol();
      }
    }
    return std::move(tokens_);
  }

 private:
  void skip_line() { at_ = std::min(source_.find('\n', at_), source_.size()); }

  void skip_comment() {
    const std::size_t end = std::min(source_.find("*/", at_), source_.size() - 2) + 2;
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void take_directive() {
    const std::size_t begin = at_;
    skip_line();
    const std::string_view directive = source_.substr(begin, at_ - begin);
    if (directive.starts_with("`ifdef SYNTHESIS")) quiet_ = true;
    if (directive.starts_with("`else") || directive.starts_with("`endif")) quiet_ = false;
  }

  /// Words; numbers with their base; texts.
  void take_word() {
    const std::size_t begin = at_;
    Token::Kind kind = Token::Kind::kWord;
    if (source_[at_] == '"') {
      kind = Token::Kind::kText;
      at_ = std::min(source_.find('"', at_ + 1), source_.size() - 1) + 1;
    } else {
      if (is_digit(source_[at_])) kind = Token::Kind::kNumber;
      while (at_ < source_.size() && is_word(source_[at_])) ++at_;
      const bool based = at_ + 1 < source_.size() && source_[at_] == '\'' &&
                         is_word(source_[at_ + 1]) &&
                         (begin == at_ || kind == Token::Kind::kNumber);
      if (based) {
        kind = Token::Kind::kNumber;
        ++at_;
        while (at_ < source_.size() && is_word(source_[at_])) ++at_;
      } else if (begin == at_) {  // a cast
        kind = Token::Kind::kSymbol;
        ++at_;
      }
    }
    add(kind, begin);
  }

  void take_symbol() {
    const auto known = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view symbol) {
      return source_.substr(at_).starts_with(symbol);
    });
    const std::size_t begin = at_;
    at_ += known == kSymbols.end() ? 1 : known->size();
    add(Token::Kind::kSymbol, begin);
  }

  void add(Token::Kind kind, std::size_t begin) {
    if (!quiet_) tokens_.push_back({kind, source_.substr(begin, at_ - begin), begin, line_});
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool quiet_ = false;  ///< in a branch for synthesis
  std::vector<Token> tokens_;
};

bool is_tight_after(const Token& token) {
  constexpr std::array<std::string_view, 11> kTight{"(", "[", "{",  "'",  "::", ".",
                                                    "!", "~", "+:", "-:", "$"};
  return std::find(kTight.begin(), kTight.end(), token.text) != kTight.end();
}

bool is_tight_before(const Token& token) {
  constexpr std::array<std::string_view, 12> kTight{"(",  ")", "[", "]", "}",  "'",
                                                    "::", ".", ",", ";", "+:", "-:"};
  return std::find(kTight.begin(), kTight.end(), token.text) != kTight.end();
}

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Scanner(source).scan(); }

std::string joined(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  std::string line;
  int brackets = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Token& token = tokens[i];
    const bool in_range = brackets > 0 && (token.is(":") || (i > first && tokens[i - 1].is(":")));
    brackets += token.is("[") ? 1 : token.is("]") ? -1 : 0;
    // A bracket behind an operator stands apart, one behind a word or a group belongs to it.
    const bool opens = token.is("(") || token.is("[");
    const bool behind_operator = i > first && tokens[i - 1].kind == Token::Kind::kSymbol &&
                                 !tokens[i - 1].is(")") && !tokens[i - 1].is("]") &&
                                 !tokens[i - 1].is("}");
    const bool repeats = token.is("{") && i > first && tokens[i - 1].kind == Token::Kind::kNumber;
    const bool tight = i == first || in_range || repeats || is_tight_after(tokens[i - 1]) ||
                       (is_tight_before(token) && !(opens && behind_operator));
    if (!tight) line += ' ';
    line += token.text;
  }
  return line;
}

}  // namespace logos::mutation
