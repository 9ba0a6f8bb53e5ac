#include "program/unroller.h"

#include <fmt/format.h>

#include "program/check.h"
#include "program/text/printer.h"
#include "program/unrolling.h"
#include "program/words.h"

namespace logos {
namespace {

// A model of 4,096 layers has about 200,000 operations; loops within loops could have any number.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 19;

}  // namespace

Unrolling::Unrolling(const Source& source, const Syntax& syntax, const Facts& facts,
                     std::int64_t chip)
    : source_(source),
      syntax_(syntax),
      facts_(facts),
      manifest_(unroll_manifest(source, syntax, facts, chip)) {
  program_.chip = chip;
}

Program Unrolling::run() {
  functions();
  Frame frame(true);
  inputs(&frame);
  main_section(&frame);
  check_all_used();
  finish();
  return std::move(program_);
}

void Unrolling::functions() {
  std::set<std::string> names;
  for (const Function& function : syntax_.functions) {
    if (is_reserved(function.name) || !names.insert(function.name).second) {
      refuse(source_, function.place, quote(function.name), "a name that is new");
    }
  }
}

void Unrolling::inputs(Frame* frame) {
  for (const Statement& input : syntax_.inputs) {
    if (input.name != "x") continue;
    line_ = line_of(input.place);
    const int x = emit(Word::kGiven, given_rows(facts_.cut.rows, facts_.spec.columns), {}, "");
    frame->bind("x", {x, 0});
  }
}

void Unrolling::main_section(Frame* frame) {
  if (syntax_.main.empty()) refuse(source_, syntax_.main_place, "end of text", "\"Show\"");
  for (std::size_t i = 0; i + 1 < syntax_.main.size(); ++i) execute(syntax_.main[i], frame);
  const Statement& last = syntax_.main.back();
  step(last.place);
  if (last.kind != Statement::Kind::kShow) {
    refuse(source_, last.place, statement_words(last), "\"Show\" as the last statement");
  }
  const int shown = tensor(last.value, frame, "");
  guard({&last.value}, [&] { type_whole_rows(typed_[index(shown)]); });
  Operation operation = new_operation(Word::kShow, {shown}, "");
  program_.operations.push_back(std::move(operation));
}

void Unrolling::check_all_used() const {
  const Declared* unused = nullptr;
  std::string_view unused_key;
  for (const auto& [key, declared] : manifest_.declared) {
    if (declared.used) continue;
    const auto line = [](const Declared* d) { return d->declaration->place.line; };
    if (unused != nullptr && line(unused) <= line(&declared)) continue;
    unused = &declared;
    unused_key = key;
  }
  if (unused != nullptr) {
    refuse(source_, unused->declaration->name_place,
           fmt::format("{}, which nothing uses", quote(unused_key)),
           "a declaration that the program uses");
  }
  for (const Function& function : syntax_.functions) {
    if (called_.count(function.name) > 0) continue;
    refuse(source_, function.place, fmt::format("{}, which nothing calls", quote(function.name)),
           "a function that the program calls");
  }
  for (const Statement& input : syntax_.inputs) {
    if (input.name == "x" || inputs_used_.count(input.name) > 0) continue;
    refuse(source_, input.name_place, fmt::format("{}, which nothing uses", quote(input.name)),
           "an input that the program uses");
  }
}

void Unrolling::finish() {
  const ModelSpec& spec = facts_.spec;
  program_.chips = facts_.chips;
  program_.profile = spec.profile;
  program_.rows = facts_.cut.rows;
  program_.is_chunk = facts_.cut.work == Cut::Work::kPrefill;
  program_.norm_epsilon = spec.norm_epsilon;
  program_.rotary = spec.rotary;
  program_.head_columns = spec.head_columns;
  program_.vocabulary = spec.vocabulary;
  program_.columns = spec.columns;
  program_.query_group = spec.query_heads / spec.key_heads;
  program_.window = spec.window;
  if (!program_.is_chunk) program_.context = facts_.cut.context;
  program_.matrices = std::move(manifest_.matrices);
  program_.vectors = std::move(manifest_.vectors);
  program_.caches = std::move(manifest_.caches);
  for (const Typed& typed : typed_) program_.values.push_back(typed.value);
}

std::string_view Unrolling::statement_words(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kLet:
      return "\"Let\"";
    case Statement::Kind::kSet:
      return "\"Set\"";
    case Statement::Kind::kPush:
      return "\"Push\"";
    case Statement::Kind::kRepeat:
      return "\"Repeat\"";
    case Statement::Kind::kReturn:
      return "\"Return\"";
    case Statement::Kind::kShow:
      return "\"Show\"";
  }
  CHECK_UNREACHABLE();
}

void Unrolling::step(Place place) {
  line_ = line_of(place);
  if (++steps_ <= kMostSteps) return;
  refuse(source_, place, fmt::format("more than {} steps", kMostSteps), "a program");
}

int Unrolling::line_of(Place place) const {
  const bool below = syntax_.directory_place && place.line > syntax_.directory_place->line;
  return place.line - (below ? 1 : 0);
}

void Unrolling::execute(const Statement& statement, Frame* frame) {
  step(statement.place);
  switch (statement.kind) {
    case Statement::Kind::kLet: {
      const Binding binding = {tensor(statement.value, frame, statement.name), 0};
      bind_new(statement.name, statement.name_place, binding, frame);
      return;
    }
    case Statement::Kind::kSet:
      set(statement, frame);
      return;
    case Statement::Kind::kPush:
      push(statement, frame);
      return;
    case Statement::Kind::kRepeat:
      repeat(statement, frame);
      return;
    case Statement::Kind::kReturn:
      refuse(source_, statement.place, "\"Return\"",
             frame->is_main() ? "a statement of the main section"
                              : "\"Return\" only as a function's last statement");
    case Statement::Kind::kShow:
      refuse(source_, statement.place, "\"Show\"",
             "\"Show\" only as the last statement of the text");
  }
}

void Unrolling::bind_new(const std::string& name, Place place, Binding binding, Frame* frame) {
  bool known = is_reserved(name) || frame->find(name) != nullptr;
  for (const Function& function : syntax_.functions) known = known || function.name == name;
  if (known) refuse(source_, place, fmt::format("{} again", quote(name)), "a name that is new");
  frame->bind(name, binding);
}

void Unrolling::set(const Statement& statement, Frame* frame) {
  Binding* binding = frame->find(statement.name);
  if (binding == nullptr || binding->value < 0) {
    refuse(source_, statement.name_place, quote(statement.name), "the name of a value");
  }
  const Typed before = typed_[index(binding->value)];
  const int value = tensor(statement.value, frame, "");
  const Typed& after = typed_[index(value)];
  if (!after.same_type(before)) {
    refuse(source_, statement.value.place, describe(after), describe(before));
  }
  binding->value = value;
}

void Unrolling::push(const Statement& statement, Frame* frame) {
  const int block = tensor(statement.value, frame, "");
  Declared& cache = declared("cache", statement.cache, statement.cache_place, frame);
  if (statement.positions != "positions") {
    refuse(source_, statement.positions_place, quote(statement.positions), "\"positions\"");
  }
  use_input("positions", statement.positions_place);
  if (cache.pushed) {
    refuse(source_, statement.cache_place,
           fmt::format("{} pushed to again", quote(statement.cache)), "one push for each cache");
  }
  cache.pushed = true;
  const Cache& target = manifest_.caches[index(cache.index)];
  guard({&statement.value},
        [&] { type_push(typed_[index(block)], target, cache.declaration->share); });
  Operation operation = new_operation(Word::kPush, {block}, "");
  operation.keys = cache.index;
  operation.layer = target.layer;
  program_.operations.push_back(std::move(operation));
}

void Unrolling::repeat(const Statement& statement, Frame* frame) {
  const std::int64_t first = statement.from.integer;
  const std::int64_t last = integer(statement.to, frame);
  if (first < 1 || last < first) {
    refuse(source_, statement.from.place, fmt::format("from {} to {}", first, last),
           "a loop that counts up from 1 or more");
  }
  const int line = line_;
  for (std::int64_t n = first; n <= last; ++n) {
    step(statement.place);
    frame->enter();
    bind_new(statement.name, statement.name_place, {-1, n}, frame);
    for (const Statement& inner : statement.body) execute(inner, frame);
    frame->leave();
  }
  line_ = line;
}

int Unrolling::call_function(const Expression& expression, Frame* frame) {
  const Function* function = nullptr;
  for (const Function& candidate : syntax_.functions) {
    if (candidate.name == expression.name) function = &candidate;
  }
  if (function == nullptr || !frame->is_main()) {
    refuse(source_, expression.place, quote(expression.name),
           frame->is_main() ? "a word of the language or a function of this text"
                            : "a word of the language");
  }
  if (expression.arguments.size() != function->parameters.size()) {
    refuse(source_, expression.place,
           fmt::format("{} with {} arguments", function->name, expression.arguments.size()),
           fmt::format("{}", function->parameters.size()));
  }
  called_.insert(function->name);
  std::int64_t layer = 0;
  std::vector<Binding> arguments;
  for (std::size_t i = 0; i < function->parameters.size(); ++i) {
    const Expression& argument = expression.arguments[i];
    Binding binding;
    if (function->parameters[i].rows) {
      binding.value = tensor(argument, frame, "");
      guard({&argument}, [&] { type_whole_rows(typed_[index(binding.value)]); });
    } else {
      binding.integer = layer = integer(argument, frame);
      if (layer < 1 || layer > facts_.spec.layers) {
        refuse(source_, argument.place, fmt::format("layer {}", layer),
               fmt::format("1 to {}", facts_.spec.layers));
      }
    }
    arguments.push_back(binding);
  }
  return run_function(*function, arguments, layer);
}

int Unrolling::run_function(const Function& function, const std::vector<Binding>& arguments,
                            std::int64_t layer) {
  Frame frame(false);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    bind_new(function.parameters[i].name, function.parameters[i].place, arguments[i], &frame);
  }
  const std::int64_t layer_before = layer_;
  const int line_before = line_;
  layer_ = layer;
  for (std::size_t i = 0; i + 1 < function.body.size(); ++i) execute(function.body[i], &frame);
  const Statement& last = function.body.back();
  step(last.place);
  if (last.kind != Statement::Kind::kReturn) {
    refuse(source_, last.place, statement_words(last), "\"Return\" as a function's last statement");
  }
  const int result = tensor(last.value, &frame, "");
  guard({&last.value}, [&] { type_whole_rows(typed_[index(result)]); });
  layer_ = layer_before;
  line_ = line_before;
  return result;
}

Program unroll(const Source& source, const Syntax& syntax, const Facts& facts, std::int64_t chip) {
  return Unrolling(source, syntax, facts, chip).run();
}

}  // namespace logos
