#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/facts.h"
#include "program/manifest.h"
#include "program/program.h"
#include "program/scope.h"
#include "program/text/syntax.h"
#include "program/typing.h"

namespace logos {

/// One run of the checker over a text: its statements are executed over the types of values instead
/// of values, and every word leaves its operation. Statements, functions and sections stand in
/// unroller.cc, expressions and words in unroll_words.cc.
class Unrolling {
 public:
  Unrolling(const Source& source, const Syntax& syntax, const Facts& facts, std::int64_t chip);
  Program run();

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void functions();
  void inputs(Frame* frame);
  void main_section(Frame* frame);
  /// What a text declares and does not use is not of its cut.
  void check_all_used() const;
  void finish();
  static std::string_view statement_words(const Statement& statement);
  /// Counts what has been done, so that loops within loops end.
  void step(Place place);
  /// Lines are counted in the placeholder form, which has no `Weights lie under`.
  int line_of(Place place) const;
  void execute(const Statement& statement, Frame* frame);
  void bind_new(const std::string& name, Place place, Binding binding, Frame* frame);
  void set(const Statement& statement, Frame* frame);
  void push(const Statement& statement, Frame* frame);
  void repeat(const Statement& statement, Frame* frame);
  /// A function of the text: called from the main section only, so that nothing recurs.
  int call_function(const Expression& expression, Frame* frame);
  int run_function(const Function& function, const std::vector<Binding>& arguments,
                   std::int64_t layer);

  Operation new_operation(Word word, std::vector<int> arguments, std::string name) const;
  /// Adds an operation with its result; gives the index of that value.
  int emit(Word word, const Typed& type, std::vector<int> arguments, std::string name);
  /// Turns a fault of `rule` into an Error at the argument that it names.
  template <typename Rule>
  auto guard(std::vector<const Expression*> arguments, const Rule& rule) const {
    try {
      return rule();
    } catch (const TypeFault& fault) {
      refuse(source_, arguments[index(fault.argument)]->place, fault.found, fault.expected);
    }
  }
  std::int64_t integer(const Expression& expression, Frame* frame) const;
  /// The one name that may stand at an argument: `positions`, `rotary`, ….
  void named(const Expression& expression, std::string_view name) const;
  void use_input(const std::string& name, Place place);
  void named_input(const Expression& expression, const std::string& name);
  Declared& declared(std::string_view noun, std::string_view text, Place place, Frame* frame);
  Declared& noun(const Expression& expression, std::string_view noun, Frame* frame);
  /// Evaluates an expression that gives a value of the program. `name`: what the program calls it,
  /// "" where it has none.
  int tensor(const Expression& expression, Frame* frame, const std::string& name);
  int binary(const Expression& expression, Frame* frame, const std::string& name);
  int call(const Expression& expression, Frame* frame, const std::string& name);
  int embedded(const Expression& call, Frame* frame, const std::string& name);
  int rms_norm(const Expression& call, Frame* frame, const std::string& name);
  int matrix_word(Word word, const Expression& call, Frame* frame, const std::string& name);
  int with_bias(const Expression& call, Frame* frame, const std::string& name);
  /// `heads` moves nothing: the name belongs to what it makes heads of.
  int heads(const Expression& call, Frame* frame, const std::string& name);
  int rotated(const Expression& call, Frame* frame, const std::string& name);
  int attended(const Expression& call, Frame* frame, const std::string& name);
  /// A Block is called after what it was made of: `quantized(q_rope)` is `q.q16`.
  int quantized(Word word, const Expression& call, Frame* frame);
  /// The words of one value and nothing else.
  int plain_word(Word word, const Expression& call, Frame* frame, const std::string& name);

  const Source& source_;
  const Syntax& syntax_;
  const Facts& facts_;
  Manifest manifest_;
  Program program_;
  std::vector<Typed> typed_;  ///< of Program::values
  std::set<std::string, std::less<>> called_;
  std::set<std::string, std::less<>> inputs_used_;
  std::int64_t steps_ = 0;
  std::int64_t layer_ = 0;
  int line_ = 0;
};

}  // namespace logos
