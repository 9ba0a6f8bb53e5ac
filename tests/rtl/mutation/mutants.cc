#include "tests/rtl/mutation/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "tests/rtl/mutation/tokens.h"

namespace logos::mutation {
namespace {

using Tokens = std::vector<Token>;

bool is_open(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool is_close(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }
bool is_operand_end(const Token& token) {
  return token.kind == Token::Kind::kWord || token.kind == Token::Kind::kNumber || is_close(token);
}
bool is_simple(const Token& token) { return token.kind == Token::Kind::kWord; }

/// The symbol that an operator puts in the place of another; "" where it has none.
std::string_view exchanged(Operator what, std::string_view symbol) {
  struct Pair {
    Operator what;
    std::string_view from;
    std::string_view to;
  };
  constexpr std::array<Pair, 17> kPairs{{{Operator::kRelation, "==", "!="},
                                         {Operator::kRelation, "!=", "=="},
                                         {Operator::kRelation, "<", "<="},
                                         {Operator::kRelation, "<=", "<"},
                                         {Operator::kRelation, ">", ">="},
                                         {Operator::kRelation, ">=", ">"},
                                         {Operator::kSign, "+", "-"},
                                         {Operator::kSign, "-", "+"},
                                         {Operator::kLogic, "&&", "||"},
                                         {Operator::kLogic, "||", "&&"},
                                         {Operator::kBits, "&", "|"},
                                         {Operator::kBits, "|", "&"},
                                         {Operator::kBits, "^", "|"},
                                         {Operator::kShift, "<<", ">>"},
                                         {Operator::kShift, ">>", "<<"},
                                         {Operator::kShift, ">>>", "<<<"},
                                         {Operator::kShift, "<<<", ">>>"}}};
  const auto found = std::find_if(kPairs.begin(), kPairs.end(), [&](const Pair& pair) {
    return pair.what == what && pair.from == symbol;
  });
  return found == kPairs.end() ? "" : found->to;
}

/// A number of the same width, one greater (all ones become 0); nothing for '0, '1 and x.
std::optional<std::string> one_more(std::string_view number) {
  const std::size_t quote = number.find('\'');
  std::string digits;
  for (const char c : number.substr(quote == std::string_view::npos ? 0 : quote + 2)) {
    if (c != '_') digits += c;
  }
  int base = 10;
  std::string head;
  if (quote != std::string_view::npos) {
    if (quote == 0) return std::nullopt;
    const char letter = number[quote + 1];
    base = letter == 'h' ? 16 : letter == 'b' ? 2 : letter == 'd' ? 10 : 0;
    head = number.substr(0, quote + 2);
  }
  if (base == 0 || digits.size() > 15 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return std::nullopt;
  }
  unsigned long long value = std::stoull(digits, nullptr, base) + 1;
  if (quote != std::string_view::npos) {
    const int bits = std::stoi(std::string(number.substr(0, quote)));
    if (bits < 64) value &= (1ULL << bits) - 1;
  }
  if (base == 16) return fmt::format("{}{:x}", head, value);
  if (base == 2) return fmt::format("{}{:b}", head, value);
  return fmt::format("{}{}", head, value);
}

/// Reads a file's procedural code and lists what can be done to it.
class Finder {
 public:
  explicit Finder(std::string_view source) : tokens_(tokens_of(source)) {}

  std::vector<Mutant> find() {
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      if (token.is("assign")) {
        ++at_;
        read_assignment(false);
      } else if (token.is("always_ff") || token.is("always_comb")) {
        ++at_;
        if (is("@")) {
          ++at_;
          skip_group();
        }
        read_statement();
      } else if (token.is("function")) {
        skip_to(";");
        while (at_ < tokens_.size() && !is("endfunction")) read_statement();
      } else {
        ++at_;
      }
    }
    return std::move(mutants_);
  }

 private:
  bool is(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].is(text); }
  /// Behind the next `text`.
  void skip_to(std::string_view text) {
    while (at_ < tokens_.size() && !is(text)) ++at_;
    ++at_;
  }
  /// Behind the group that opens here.
  void skip_group() { at_ = group_end(at_) + 1; }
  std::size_t group_end(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      depth += is_open(tokens_[i]) ? 1 : is_close(tokens_[i]) ? -1 : 0;
      if (depth == 0) return i;
    }
    return tokens_.size() - 1;
  }

  void read_statement() {
    if (is("begin")) {
      ++at_;
      if (is(":")) at_ += 2;
      while (at_ < tokens_.size() && !is("end")) read_statement();
      ++at_;
    } else if (is("if")) {
      ++at_;
      read_condition();
      read_statement();
      if (is("else")) {
        ++at_;
        read_statement();
      }
    } else if (is("for")) {
      ++at_;
      skip_group();
      read_statement();
    } else if (is(";") || is("unique") || is("priority")) {
      ++at_;
    } else if (is("case") || is("casez")) {
      read_case();
    } else if (is("logic") || is("int") || is("automatic") || is("bit")) {
      skip_to(";");
    } else {
      read_assignment(true);
    }
  }

  void read_case() {
    ++at_;
    skip_group();
    while (at_ < tokens_.size() && !is("endcase")) {
      while (at_ < tokens_.size() && !is(":"))
        at_ = is_open(tokens_[at_]) ? group_end(at_) + 1 : at_ + 1;
      ++at_;
      read_statement();
    }
    ++at_;
  }

  void read_condition() {
    const std::size_t first = at_ + 1;
    const std::size_t last = group_end(at_);
    at_ = last + 1;
    const auto add = [&](Operator what, std::string after) {
      push(Mutant::Where::kCondition, first, last, what, joined(tokens_, first, last),
           std::move(after));
    };
    add(Operator::kNegate, fmt::format("!({})", joined(tokens_, first, last)));
    mutate(first, last, add);
  }

  void read_assignment(bool procedural) {
    const std::size_t first = at_;
    std::size_t equals = first;
    while (equals < tokens_.size() && !tokens_[equals].is("=") && !tokens_[equals].is("<=") &&
           !tokens_[equals].is(";")) {
      equals = is_open(tokens_[equals]) ? group_end(equals) + 1 : equals + 1;
    }
    std::size_t end = equals;
    while (end < tokens_.size() && !tokens_[end].is(";")) {
      end = is_open(tokens_[end]) ? group_end(end) + 1 : end + 1;
    }
    at_ = end + 1;
    if (equals >= end || end >= tokens_.size()) return;  // a call, x++, …
    const std::string target = joined(tokens_, first, equals + 1);
    const auto add = [&](Operator what, std::string value) {
      if (procedural) {
        push(Mutant::Where::kStatement, first, end + 1, what, joined(tokens_, first, end + 1),
             value.empty() ? "" : fmt::format("{} {};", target, value));
      } else {
        push(Mutant::Where::kContinuous, equals + 1, end, what, joined(tokens_, equals + 1, end),
             std::move(value));
      }
    };
    mutate(equals + 1, end, add);
    add(Operator::kStuck, fmt::format("({}) | 1'sb1", joined(tokens_, equals + 1, end)));
    if (procedural) add(Operator::kAssignment, "");
  }

  void push(Mutant::Where where, std::size_t first, std::size_t last, Operator what,
            std::string before, std::string after) {
    mutants_.push_back({where, tokens_[first].begin, tokens_[last - 1].end(), tokens_[first].line,
                        what, std::move(before), std::move(after)});
  }

  /// The expression with tokens [from, to) replaced.
  std::string with(std::size_t first, std::size_t last, std::size_t from, std::size_t to,
                   std::string_view text) const {
    const std::string all =
        fmt::format("{} {} {}", joined(tokens_, first, from), text, joined(tokens_, to, last));
    const Tokens tokens = tokens_of(all);
    return joined(tokens, 0, tokens.size());
  }

  /// What can be done within the expression of tokens [first, last).
  template <typename Add>
  void mutate(std::size_t first, std::size_t last, Add&& add) {
    int brackets = 0;
    for (std::size_t i = first; i < last; ++i) {
      const Token& token = tokens_[i];
      brackets += token.is("[") ? 1 : token.is("]") ? -1 : 0;
      if (token.is("[")) index(first, last, i, add);
      if (token.is("?")) branches(first, last, i, add);
      if (brackets > 0) continue;
      if (token.kind == Token::Kind::kNumber &&
          !(i + 1 < last && (tokens_[i + 1].is("'") || tokens_[i + 1].is("{")))) {
        if (const auto number = one_more(token.text)) {
          add(Operator::kConstant, with(first, last, i, i + 1, *number));
        }
      }
      if (i > first && is_operand_end(tokens_[i - 1])) binary(first, last, i, add);
    }
  }

  template <typename Add>
  void binary(std::size_t first, std::size_t last, std::size_t i, Add&& add) {
    const Token& token = tokens_[i];
    for (const Operator what : {Operator::kRelation, Operator::kSign, Operator::kLogic,
                                Operator::kBits, Operator::kShift}) {
      const std::string_view other = exchanged(what, token.text);
      if (!other.empty()) add(what, with(first, last, i, i + 1, other));
    }
    if (token.is("-") && is_plain_difference(first, last, i)) {
      const std::string swapped = fmt::format("{} - {}", tokens_[i + 1].text, tokens_[i - 1].text);
      add(Operator::kOperands, with(first, last, i - 1, i + 2, swapped));
    }
    if (token.is("&&") || token.is("||") || token.is("+")) {
      add(Operator::kTerm, with(first, last, i, term_end(i, last), ""));
    }
  }

  /// a - b of two words, and nothing binds them to what stands around.
  bool is_plain_difference(std::size_t first, std::size_t last, std::size_t minus) const {
    constexpr std::array<std::string_view, 7> kBefore{"+", "-", "*", "/", "%", "::", "."};
    constexpr std::array<std::string_view, 8> kBehind{"*", "/", "%", "::", ".", "[", "(", "'"};
    const auto among = [](const auto& list, const Token& token) {
      return std::find(list.begin(), list.end(), token.text) != list.end();
    };
    return minus > first && minus + 1 < last && is_simple(tokens_[minus - 1]) &&
           is_simple(tokens_[minus + 1]) &&
           (minus == first + 1 || !among(kBefore, tokens_[minus - 2])) &&
           (minus + 2 >= last || !among(kBehind, tokens_[minus + 2]));
  }

  /// Where the operand behind the operator at i ends.
  std::size_t term_end(std::size_t i, std::size_t last) const {
    constexpr std::array<std::string_view, 4> kLoose{"||", "?", ":", ","};
    constexpr std::array<std::string_view, 14> kTight{
        "+", "-", "<", "<=", ">", ">=", "==", "!=", "<<", ">>", "&", "|", "^", "&&"};
    const auto ends = [&](const Token& token) {
      const auto among = [&](const auto& list) {
        return std::find(list.begin(), list.end(), token.text) != list.end();
      };
      if (among(kLoose) || is_close(token)) return true;
      if (tokens_[i].is("||")) return false;
      return tokens_[i].is("&&") ? token.is("&&") : among(kTight);
    };
    std::size_t end = i + 1;
    while (end < last && !ends(tokens_[end])) {
      end = is_open(tokens_[end]) ? group_end(end) + 1 : end + 1;
    }
    return end;
  }

  /// a[i] -> a[i ^ 1], of a single word or number.
  template <typename Add>
  void index(std::size_t first, std::size_t last, std::size_t i, Add&& add) {
    if (i == first || !is_operand_end(tokens_[i - 1]) || group_end(i) != i + 2) return;
    if (tokens_[i + 1].kind == Token::Kind::kNumber) {
      const auto number = one_more(tokens_[i + 1].text);
      if (number) add(Operator::kIndex, with(first, last, i + 1, i + 2, *number));
    } else if (is_simple(tokens_[i + 1])) {
      add(Operator::kIndex,
          with(first, last, i + 1, i + 2, fmt::format("{} ^ 1'b1", tokens_[i + 1].text)));
    }
  }

  /// c ? a : b -> c ? b : a.
  template <typename Add>
  void branches(std::size_t first, std::size_t last, std::size_t question, Add&& add) {
    std::size_t colon = last;
    std::size_t end = question + 1;
    int open = 0;  // questions between
    for (; end < last && !is_close(tokens_[end]) && !tokens_[end].is(","); ++end) {
      if (is_open(tokens_[end])) {
        end = group_end(end);
      } else if (tokens_[end].is("?")) {
        ++open;
      } else if (tokens_[end].is(":")) {
        if (open > 0) {
          --open;
        } else if (colon == last) {
          colon = end;
        } else {
          break;
        }
      }
    }
    if (colon == last) return;
    add(Operator::kBranches, with(first, last, question, end,
                                  fmt::format("? ({}) : ({})", joined(tokens_, colon + 1, end),
                                              joined(tokens_, question + 1, colon))));
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::string_view name_of(Operator what) {
  constexpr std::array<std::string_view, kOperators> kNames{
      "negate", "relation", "sign",     "logic", "bits",  "shift",     "constant",
      "index",  "branches", "operands", "term",  "stuck", "assignment"};
  return kNames[static_cast<std::size_t>(what)];
}

std::vector<Mutant> mutants_of(std::string_view source) { return Finder(source).find(); }

std::string plant(std::string_view source, const std::vector<Numbered>& mutants,
                  std::string_view active) {
  std::map<std::size_t, std::vector<const Numbered*>> places;
  for (const Numbered& numbered : mutants) places[numbered.mutant.begin].push_back(&numbered);
  std::string text;
  std::size_t at = 0;
  for (const auto& [begin, here] : places) {
    const Mutant& first = here.front()->mutant;
    text += source.substr(at, begin - at);
    at = first.end;
    const std::string_view original = source.substr(begin, first.end - begin);
    if (first.where == Mutant::Where::kStatement) {
      text += "begin ";
      for (const Numbered* numbered : here) {
        text += fmt::format("if ({} == {}) begin {} end else ", active, numbered->number,
                            numbered->mutant.after);
      }
      text += fmt::format("begin {} end end", original);
    } else {
      for (const Numbered* numbered : here) {
        text +=
            fmt::format("({} == {}) ? ({}) : ", active, numbered->number, numbered->mutant.after);
      }
      text += fmt::format("({})", original);
    }
  }
  return text.append(source.substr(at));
}

}  // namespace logos::mutation
