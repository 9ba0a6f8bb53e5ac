#pragma once

#include <vector>

#include "program/text/syntax.h"
#include "program/text/token_reader.h"

namespace logos {

/// The statements of a program: lines, their nesting by indents, the expressions in them.
class StatementParser {
 public:
  explicit StatementParser(TokenReader* tokens) : tokens_(*tokens) {}

  /// Every statement at `depth` indents that follows; nested bodies with them.
  std::vector<Statement> statements(int depth);
  /// Every `Let` at the margin that follows.
  std::vector<Statement> lets();

  /// Whether the next line belongs to a block of `depth` indents; refuses an indent that is neither
  /// this block's nor one around it.
  bool at_line(int depth) const;
  /// `Repeat for n from A to B:` with its end of line.
  void repeat_head(std::string* name, Place* name_place, Expression* from, Expression* to);

 private:
  Statement statement(int depth);
  Statement let();
  Expression expression(int nesting);
  Expression term(int nesting);
  Expression word_term(int nesting);
  Expression list();
  Expression repeat_bound(bool or_name);
  void count_term(Place place);
  void end_statement();

  TokenReader& tokens_;
  int terms_ = 0;
};

}  // namespace logos
