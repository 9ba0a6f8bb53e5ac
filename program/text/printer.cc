#include "program/text/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/check.h"
#include "program/decimal.h"

namespace logos {
namespace {

std::string print_expression(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::kInt:
      return fmt::format("{}", expression.integer);
    case Expression::Kind::kDecimal:
      return shortest_decimal(expression.decimal);
    case Expression::Kind::kString:
      return fmt::format("\"{}\"", expression.text);
    case Expression::Kind::kName:
      return expression.name;
    case Expression::Kind::kNoun:
      return fmt::format("{} \"{}\"", expression.name, expression.text);
    case Expression::Kind::kList:
      return fmt::format("[{}]", fmt::join(expression.items, ", "));
    case Expression::Kind::kBinary:
      return fmt::format("{} {} {}", print_expression(expression.arguments[0]), expression.name,
                         print_expression(expression.arguments[1]));
    case Expression::Kind::kCall: {
      std::string text = expression.name + "(";
      for (std::size_t i = 0; i < expression.arguments.size(); ++i) {
        if (i > 0) text += ", ";
        text += print_expression(expression.arguments[i]);
      }
      return text + ")";
    }
  }
  CHECK_UNREACHABLE();
}

std::string repeat_head(const std::string& name, const Expression& from, const Expression& to) {
  return fmt::format("Repeat for {} from {} to {}:\n", name, print_expression(from),
                     print_expression(to));
}

std::string indent(int depth) { return std::string(static_cast<std::size_t>(depth) * 4, ' '); }

std::string print_statements(const std::vector<Statement>& statements, int depth);

std::string print_statement(const Statement& statement, int depth) {
  const std::string value =
      statement.kind == Statement::Kind::kRepeat ? "" : print_expression(statement.value);
  switch (statement.kind) {
    case Statement::Kind::kLet:
      return fmt::format("Let {} be {}.\n", statement.name, value);
    case Statement::Kind::kSet:
      return fmt::format("Set {} to {}.\n", statement.name, value);
    case Statement::Kind::kPush:
      return fmt::format("Push {} to cache \"{}\" at {}.\n", value, statement.cache,
                         statement.positions);
    case Statement::Kind::kReturn:
      return fmt::format("Return {}.\n", value);
    case Statement::Kind::kShow:
      return fmt::format("Show {}.\n", value);
    case Statement::Kind::kRepeat:
      return repeat_head(statement.name, statement.from, statement.to) +
             print_statements(statement.body, depth + 1);
  }
  CHECK_UNREACHABLE();
}

std::string print_statements(const std::vector<Statement>& statements, int depth) {
  std::string text;
  for (const Statement& statement : statements) {
    text += indent(depth) + print_statement(statement, depth);
  }
  return text;
}

std::string print_declaration(const Declaration& declaration) {
  switch (declaration.kind) {
    case Declaration::Kind::kWeight:
      return fmt::format("Weight \"{}\" is \"{}\": {} rows of {}", declaration.name,
                         declaration.tensor, declaration.rows, declaration.columns);
    case Declaration::Kind::kGain:
    case Declaration::Kind::kBias:
      return fmt::format("{} \"{}\" is \"{}\": {}",
                         declaration.kind == Declaration::Kind::kGain ? "Gain" : "Bias",
                         declaration.name, declaration.tensor, declaration.rows);
    case Declaration::Kind::kCache:
      return fmt::format("Cache \"{}\" has {} positions of {} heads of {}, {}", declaration.name,
                         declaration.positions ? fmt::format("{}", *declaration.positions)
                                               : std::string("the run's"),
                         declaration.heads, declaration.columns,
                         declaration.one_for_each_row ? "one for each row" : "shared by all rows");
    case Declaration::Kind::kRepeat:
      break;
  }
  CHECK_UNREACHABLE();
}

std::string print_manifest(const std::vector<Declaration>& declarations, int depth) {
  std::string text;
  for (const Declaration& declaration : declarations) {
    text += indent(depth);
    if (declaration.kind == Declaration::Kind::kRepeat) {
      text += repeat_head(declaration.name, declaration.from, declaration.to) +
              print_manifest(declaration.body, depth + 1);
      continue;
    }
    text += print_declaration(declaration);
    if (declaration.share != HeldShare::kAll) {
      text += fmt::format("; each chip holds {}", share_words(declaration.share));
    }
    text += ".\n";
  }
  return text;
}

std::string print_function(const Function& function) {
  std::string text = fmt::format("\n## To {} (", function.name);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    text +=
        fmt::format("{}{}: {}", i > 0 ? ", " : "", parameter.name, parameter.rows ? "Rows" : "Int");
  }
  return text + ") -> Rows:\n" + print_statements(function.body, 1);
}

}  // namespace

std::string describe(const Expression& value) {
  switch (value.kind) {
    case Expression::Kind::kInt:
      return fmt::format("{}", value.integer);
    case Expression::Kind::kDecimal:
      return fmt::format("{}", value.decimal);
    case Expression::Kind::kString:
      return fmt::format("the string {}", quote(value.text));
    case Expression::Kind::kName:
      return quote(value.name);
    case Expression::Kind::kCall:
      return fmt::format("{}(…)", value.name);
    case Expression::Kind::kNoun:
      return fmt::format("{} {}", value.name, quote(value.text));
    case Expression::Kind::kList:
      return "a list";
    case Expression::Kind::kBinary:
      return fmt::format("a {} of two values", value.name == "+" ? "sum" : "product");
  }
  CHECK_UNREACHABLE();
}

std::string_view share_words(HeldShare share) {
  switch (share) {
    case HeldShare::kAll:
      return "";
    case HeldShare::kRows:
      return "its share of the rows";
    case HeldShare::kColumns:
      return "its share of the columns";
    case HeldShare::kQueryHeadRows:
      return "the rows of its query heads";
    case HeldShare::kKeyHeadRows:
      return "the rows of its key heads";
    case HeldShare::kQueryHeadColumns:
      return "the columns of its query heads";
    case HeldShare::kKeyHeads:
      return "its key heads";
  }
  CHECK_UNREACHABLE();
}

std::string print_title(const Cut& cut, std::int64_t chips) {
  std::string phrase;
  switch (cut.work) {
    case Cut::Work::kDecode:
      phrase = fmt::format("the decode step over a cache of {} positions", cut.context);
      break;
    case Cut::Work::kPrefill:
      phrase = fmt::format("a prefill chunk of {} tokens", cut.rows);
      break;
    case Cut::Work::kBatch:
      phrase =
          fmt::format("a batch of {} sequences over caches of {} positions", cut.rows, cut.context);
      break;
  }
  switch (cut.part) {
    case Cut::Part::kWhole:
      phrase[0] = phrase[0] == 't' ? 'T' : 'A';
      break;
    case Cut::Part::kEmbedding:
      phrase = "The embedding of " + phrase;
      break;
    case Cut::Part::kLayer:
      phrase = fmt::format("Layer {} of {}", cut.layer, phrase);
      break;
    case Cut::Part::kHead:
      phrase = "The head of " + phrase;
      break;
  }
  return chips == 1 ? fmt::format("# {}", phrase)
                    : fmt::format("# {}, over {} chips", phrase, chips);
}

std::string print(const Syntax& syntax) {
  std::string text = print_title(syntax.cut, syntax.chips) + "\n";
  text += "\n## Model\n" + print_statements(syntax.model, 0);
  text += "\n## Manifest\n";
  if (syntax.directory_place) {
    text += fmt::format("Weights lie under \"{}\".\n", syntax.directory);
  }
  text += print_manifest(syntax.manifest, 0);
  for (const Function& function : syntax.functions) text += print_function(function);
  text += "\n## Inputs\n" + print_statements(syntax.inputs, 0);
  text += "\n## Main\n" + print_statements(syntax.main, 0);
  return text;
}

}  // namespace logos
