#include "program/text/parse_statement.h"

#include <fmt/format.h>

#include "program/check_facts.h"

namespace logos {
namespace {

// A genuine program nests calls three deep and blocks one deep, and has a few hundred terms.
constexpr int kMostNesting = 16;
constexpr int kMostTerms = 100000;
constexpr int kSpacesOfIndent = 4;

bool is_noun(const TokenReader& tokens) {
  return tokens.at_word("weight") || tokens.at_word("gain") || tokens.at_word("bias") ||
         tokens.at_word("cache");
}

}  // namespace

bool StatementParser::at_line(int depth) const {
  const Token& token = tokens_.peek();
  if (tokens_.at_end()) return false;
  const int spaces = depth * kSpacesOfIndent;
  if (token.indent == spaces) return true;
  const bool of_outer = token.indent < spaces && token.indent % kSpacesOfIndent == 0;
  if (of_outer) return false;
  refuse(tokens_.source(), token.place, fmt::format("{} spaces before it", token.indent),
         fmt::format("{} spaces before {}", spaces, describe(token)));
}

std::vector<Statement> StatementParser::statements(int depth) {
  std::vector<Statement> body;
  while (at_line(depth) && !tokens_.at_sign("##")) body.push_back(statement(depth));
  return body;
}

std::vector<Statement> StatementParser::lets() {
  std::vector<Statement> body;
  while (at_line(0) && !tokens_.at_sign("##")) body.push_back(let());
  return body;
}

void StatementParser::end_statement() {
  tokens_.expect(".");
  tokens_.expect_end_of_line();
}

Statement StatementParser::let() {
  Statement result;
  result.place = tokens_.place();
  tokens_.expect("Let");
  result.name_place = tokens_.place();
  result.name = tokens_.expect_name();
  tokens_.expect("be");
  result.value = expression(0);
  end_statement();
  return result;
}

Statement StatementParser::statement(int depth) {
  if (tokens_.at_word("Let")) return let();
  Statement result;
  result.place = tokens_.place();
  if (tokens_.skip_word("Set")) {
    result.kind = Statement::Kind::kSet;
    result.name_place = tokens_.place();
    result.name = tokens_.expect_name();
    tokens_.expect("to");
    result.value = expression(0);
  } else if (tokens_.skip_word("Push")) {
    result.kind = Statement::Kind::kPush;
    result.value = expression(0);
    tokens_.expect("to cache");
    result.cache_place = tokens_.place();
    result.cache = tokens_.expect_string();
    tokens_.expect("at");
    result.positions_place = tokens_.place();
    result.positions = tokens_.expect_name();
  } else if (tokens_.skip_word("Return")) {
    result.kind = Statement::Kind::kReturn;
    result.value = expression(0);
  } else if (tokens_.skip_word("Show")) {
    result.kind = Statement::Kind::kShow;
    result.value = expression(0);
  } else if (tokens_.at_word("Repeat")) {
    if (depth >= kMostNesting) tokens_.fail(fmt::format("at most {} loops nested", kMostNesting));
    result.kind = Statement::Kind::kRepeat;
    repeat_head(&result.name, &result.name_place, &result.from, &result.to);
    result.body = statements(depth + 1);
    if (result.body.empty()) tokens_.fail("the body of the loop");
    return result;
  } else {
    tokens_.fail("\"Let\", \"Set\", \"Push\", \"Repeat\", \"Return\" or \"Show\"");
  }
  end_statement();
  return result;
}

void StatementParser::repeat_head(std::string* name, Place* name_place, Expression* from,
                                  Expression* to) {
  tokens_.expect("Repeat for");
  *name_place = tokens_.place();
  *name = tokens_.expect_name();
  tokens_.expect("from");
  *from = repeat_bound(false);
  tokens_.expect("to");
  *to = repeat_bound(true);
  tokens_.expect(":");
  tokens_.expect_end_of_line();
}

Expression StatementParser::repeat_bound(bool or_name) {
  Expression result;
  result.place = tokens_.place();
  if (or_name && tokens_.peek().kind == Token::Kind::kWord) {
    result.kind = Expression::Kind::kName;
    result.name = tokens_.expect_name();
  } else {
    result.integer = tokens_.expect_int();
  }
  return result;
}

void StatementParser::count_term(Place place) {
  if (++terms_ <= kMostTerms) return;
  refuse(tokens_.source(), place, fmt::format("more than {} terms", kMostTerms), "a program");
}

Expression StatementParser::expression(int nesting) {
  Expression left = term(nesting);
  if (!tokens_.at_sign("+") && !tokens_.at_sign("*")) return left;
  Expression result;
  result.kind = Expression::Kind::kBinary;
  result.place = left.place;
  result.name = std::string(tokens_.take().text);
  result.arguments.push_back(std::move(left));
  result.arguments.push_back(term(nesting));
  return result;
}

Expression StatementParser::term(int nesting) {
  count_term(tokens_.place());
  if (nesting > kMostNesting) tokens_.fail(fmt::format("at most {} calls nested", kMostNesting));
  Expression result;
  result.place = tokens_.place();
  switch (tokens_.peek().kind) {
    case Token::Kind::kInt:
      result.kind = Expression::Kind::kInt;
      result.decimal = tokens_.peek().decimal;
      result.integer = tokens_.take().integer;
      return result;
    case Token::Kind::kDecimal:
      result.kind = Expression::Kind::kDecimal;
      result.decimal = tokens_.take().decimal;
      return result;
    case Token::Kind::kString:
      result.kind = Expression::Kind::kString;
      result.text = tokens_.expect_string();
      return result;
    case Token::Kind::kWord:
      return word_term(nesting);
    case Token::Kind::kSign:
      if (tokens_.at_sign("[")) return list();
      break;
    case Token::Kind::kEndOfLine:
    case Token::Kind::kEndOfText:
      break;
  }
  tokens_.fail("a value");
}

/// `weight "…"`, `name` or `name(…)`.
Expression StatementParser::word_term(int nesting) {
  Expression result;
  result.place = tokens_.place();
  if (is_noun(tokens_)) {
    result.kind = Expression::Kind::kNoun;
    result.name = std::string(tokens_.take().text);
    result.text = tokens_.expect_string();
    return result;
  }
  result.kind = Expression::Kind::kName;
  result.name = tokens_.expect_name();
  if (!tokens_.skip_sign("(")) return result;
  result.kind = Expression::Kind::kCall;
  do {
    result.arguments.push_back(expression(nesting + 1));
  } while (tokens_.skip_sign(","));
  if (!tokens_.skip_sign(")")) tokens_.fail("\",\" or \")\"");
  return result;
}

Expression StatementParser::list() {
  Expression result;
  result.kind = Expression::Kind::kList;
  result.place = tokens_.place();
  tokens_.expect("[");
  do {
    if (static_cast<std::int64_t>(result.items.size()) == kMostRunRows) {
      tokens_.fail(fmt::format("at most {} items", kMostRunRows));
    }
    result.item_columns.push_back(tokens_.place().column);
    result.items.push_back(tokens_.expect_int());
  } while (tokens_.skip_sign(","));
  if (!tokens_.skip_sign("]")) tokens_.fail("\",\" or \"]\"");
  return result;
}

}  // namespace logos
