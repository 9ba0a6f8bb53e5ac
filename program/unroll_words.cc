#include <fmt/format.h>

#include "program/text/printer.h"
#include "program/unrolling.h"
#include "program/words.h"

namespace logos {
namespace {

/// The dump's name (golden/README.md) of what a program calls `name`: `q_rope` is `q.rope`.
std::string dump_name(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::string(name);
  return fmt::format("{}.{}", name.substr(0, name.size() - ending.size()), ending.substr(1));
}

}  // namespace

Operation Unrolling::new_operation(Word word, std::vector<int> arguments, std::string name) const {
  Operation operation;
  operation.word = word;
  operation.layer = layer_;
  operation.line = line_;
  operation.name = std::move(name);
  operation.arguments = std::move(arguments);
  return operation;
}

int Unrolling::emit(Word word, const Typed& type, std::vector<int> arguments, std::string name) {
  ++steps_;
  Operation operation = new_operation(word, std::move(arguments), std::move(name));
  operation.result = static_cast<int>(typed_.size());
  typed_.push_back(type);
  program_.operations.push_back(std::move(operation));
  return program_.operations.back().result;
}

std::int64_t Unrolling::integer(const Expression& expression, Frame* frame) const {
  if (expression.kind == Expression::Kind::kInt) return expression.integer;
  if (expression.kind == Expression::Kind::kName) {
    const Binding* binding = frame->find(expression.name);
    if (binding != nullptr && binding->value < 0) return binding->integer;
    if (binding == nullptr && expression.name == "layers") return facts_.spec.layers;
    if (binding == nullptr && expression.name == "head_columns") return facts_.spec.head_columns;
  }
  refuse(source_, expression.place, describe(expression), "a whole number, or the name of one");
}

void Unrolling::named(const Expression& expression, std::string_view name) const {
  if (expression.kind == Expression::Kind::kName && expression.name == name) return;
  refuse(source_, expression.place, describe(expression), quote(name));
}

void Unrolling::use_input(const std::string& name, Place place) {
  for (const Statement& input : syntax_.inputs) {
    if (input.name != name) continue;
    inputs_used_.insert(name);
    return;
  }
  refuse(source_, place, quote(name), "an input of this program");
}

void Unrolling::named_input(const Expression& expression, const std::string& name) {
  named(expression, name);
  use_input(name, expression.place);
}

Declared& Unrolling::declared(std::string_view noun, std::string_view text, Place place,
                              Frame* frame) {
  const HoleValue value = [&](std::string_view name) -> std::optional<std::int64_t> {
    const Binding* binding = frame->find(name);
    if (binding == nullptr || binding->value >= 0) return std::nullopt;
    return binding->integer;
  };
  const std::string name = fill_holes(source_, place, text, value);
  Declared* found = manifest_.find(noun, name);
  if (found == nullptr) {
    refuse(source_, place, fmt::format("{} {}", noun, quote(name)),
           fmt::format("a {} of the manifest", noun));
  }
  found->used = true;
  return *found;
}

Declared& Unrolling::noun(const Expression& expression, std::string_view noun, Frame* frame) {
  if (expression.kind != Expression::Kind::kNoun || expression.name != noun) {
    refuse(source_, expression.place, describe(expression), fmt::format("{} \"…\"", noun));
  }
  Place place = expression.place;
  place.column += static_cast<int>(noun.size()) + 1;  // where its string begins
  return declared(noun, expression.text, place, frame);
}

int Unrolling::tensor(const Expression& expression, Frame* frame, const std::string& name) {
  switch (expression.kind) {
    case Expression::Kind::kName: {
      const Binding* binding = frame->find(expression.name);
      if (binding != nullptr && binding->value >= 0) return binding->value;
      break;
    }
    case Expression::Kind::kBinary:
      return binary(expression, frame, name);
    case Expression::Kind::kCall:
      return call(expression, frame, name);
    case Expression::Kind::kInt:
    case Expression::Kind::kDecimal:
    case Expression::Kind::kString:
    case Expression::Kind::kNoun:
    case Expression::Kind::kList:
      break;
  }
  refuse(source_, expression.place, describe(expression), "a value computed from the inputs");
}

int Unrolling::binary(const Expression& expression, Frame* frame, const std::string& name) {
  const Expression& left = expression.arguments[0];
  const Expression& right = expression.arguments[1];
  const bool add = expression.name == "+";
  const int x = tensor(left, frame, "");
  const int y = tensor(right, frame, "");
  const Typed type = guard({&left, &right}, [&] {
    const Typed& a = typed_[index(x)];
    const Typed& b = typed_[index(y)];
    return add ? type_add(a, b) : type_multiply(a, b);
  });
  if (!add) return emit(Word::kMultiply, type, {x, y}, name);
  std::string sum;
  if (right.name == "o") sum = "residual_1";
  if (right.name == "down") sum = "residual_2";
  return emit(Word::kAdd, type, {x, y}, sum);
}

int Unrolling::call(const Expression& expression, Frame* frame, const std::string& name) {
  const auto word = find_word(expression.name);
  if (!word) return call_function(expression, frame);
  const std::size_t count = expression.arguments.size();
  if (count < word->least_arguments || count > word->most_arguments) {
    refuse(source_, expression.place, fmt::format("{} with {} arguments", word->name, count),
           word->least_arguments == word->most_arguments
               ? fmt::format("{}", word->least_arguments)
               : fmt::format("{} or {}", word->least_arguments, word->most_arguments));
  }
  switch (word->word) {
    case Word::kEmbedded:
      return embedded(expression, frame, name);
    case Word::kRmsNorm:
      return rms_norm(expression, frame, name);
    case Word::kProduct:
    case Word::kSums:
      return matrix_word(word->word, expression, frame, name);
    case Word::kWithBias:
      return with_bias(expression, frame, name);
    case Word::kHeads:
      return heads(expression, frame, name);
    case Word::kRotated:
      return rotated(expression, frame, name);
    case Word::kAttended:
      return attended(expression, frame, name);
    case Word::kQuantized:
    case Word::kQuantizedAt:
      return quantized(word->word, expression, frame);
    default:
      return plain_word(word->word, expression, frame, name);
  }
}

int Unrolling::embedded(const Expression& call, Frame* frame, const std::string& name) {
  named_input(call.arguments[0], "tokens");
  const Declared& weight = noun(call.arguments[1], "weight", frame);
  const Typed type = guard({&call.arguments[0], &call.arguments[1]}, [&] {
    return type_embedded(facts_.cut.rows, manifest_.matrices[index(weight.index)],
                         weight.declaration->share);
  });
  const int result = emit(Word::kEmbedded, type, {}, name.empty() ? "" : "embedding");
  program_.operations.back().matrix = weight.index;
  return result;
}

int Unrolling::rms_norm(const Expression& call, Frame* frame, const std::string& name) {
  const int x = tensor(call.arguments[0], frame, "");
  const Declared& gain = noun(call.arguments[1], "gain", frame);
  named(call.arguments[2], "norm_epsilon");
  const Typed type = guard({&call.arguments[0], &call.arguments[1]}, [&] {
    return type_rms_norm(typed_[index(x)], manifest_.vectors[index(gain.index)]);
  });
  const bool of_heads = type.value.kind == ValueKind::kHeads;
  const int result = emit(Word::kRmsNorm, type, {x}, of_heads ? dump_name(name, "_norm") : name);
  program_.operations.back().vector = gain.index;
  return result;
}

int Unrolling::matrix_word(Word word, const Expression& call, Frame* frame,
                           const std::string& name) {
  const int block = tensor(call.arguments[0], frame, "");
  const Declared& weight = noun(call.arguments[1], "weight", frame);
  const Matrix& matrix = manifest_.matrices[index(weight.index)];
  const HeldShare share = weight.declaration->share;
  const bool product = word == Word::kProduct;
  const Typed type = guard({&call.arguments[0], &call.arguments[1]}, [&] {
    const Typed& x = typed_[index(block)];
    return product ? type_product(x, matrix, share) : type_sums(x, matrix, share);
  });
  const int result = emit(word, type, {block}, product ? name : "");
  program_.operations.back().matrix = weight.index;
  return result;
}

int Unrolling::with_bias(const Expression& call, Frame* frame, const std::string& name) {
  const int y = tensor(call.arguments[0], frame, name);
  const Declared& bias = noun(call.arguments[1], "bias", frame);
  const Typed type = guard({&call.arguments[0], &call.arguments[1]}, [&] {
    return type_with_bias(typed_[index(y)], manifest_.vectors[index(bias.index)],
                          bias.declaration->share);
  });
  const int result = emit(Word::kWithBias, type, {y}, name.empty() ? "" : name + ".bias");
  program_.operations.back().vector = bias.index;
  return result;
}

int Unrolling::heads(const Expression& call, Frame* frame, const std::string& name) {
  const int x = tensor(call.arguments[0], frame, name);
  const std::int64_t columns = integer(call.arguments[1], frame);
  const Typed type = guard({&call.arguments[0], &call.arguments[1]}, [&] {
    return type_heads(typed_[index(x)], columns, facts_.spec.head_columns);
  });
  return emit(Word::kHeads, type, {x}, "");
}

int Unrolling::rotated(const Expression& call, Frame* frame, const std::string& name) {
  const int x = tensor(call.arguments[0], frame, "");
  named_input(call.arguments[1], "positions");
  named(call.arguments[2], "rotary");
  const Typed type = guard({&call.arguments[0]}, [&] {
    return type_rotated(typed_[index(x)], facts_.spec.head_columns);
  });
  return emit(Word::kRotated, type, {x}, dump_name(name, "_rope"));
}

int Unrolling::attended(const Expression& call, Frame* frame, const std::string& name) {
  const int block = tensor(call.arguments[0], frame, "");
  const Declared& keys = noun(call.arguments[1], "cache", frame);
  const Declared& values = noun(call.arguments[2], "cache", frame);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if ((i == 1 ? keys : values).pushed) continue;
    refuse(source_, call.arguments[i].place, describe(call.arguments[i]),
           "a cache that was pushed to before");
  }
  named_input(call.arguments[3], "positions");
  const bool window = call.arguments.size() == 5;
  if (window) named(call.arguments[4], "window");
  if (window != facts_.spec.window.has_value()) {
    refuse(source_, call.place, window ? "a window" : "no window",
           window ? "none, as the model states none" : "the window that the model states");
  }
  const Typed type = guard({&call.arguments[0], &call.arguments[1], &call.arguments[2]}, [&] {
    return type_attended(typed_[index(block)], facts_.spec.query_heads,
                         manifest_.caches[index(keys.index)], manifest_.caches[index(values.index)],
                         keys.declaration->share);
  });
  const int result = emit(Word::kAttended, type, {block}, name);
  program_.operations.back().keys = keys.index;
  program_.operations.back().cache_values = values.index;
  return result;
}

int Unrolling::quantized(Word word, const Expression& call, Frame* frame) {
  const Expression& argument = call.arguments[0];
  std::vector<int> values = {tensor(argument, frame, "")};
  std::string name;
  if (argument.kind == Expression::Kind::kName) {
    std::string_view of = argument.name;
    if (of.ends_with("_rope")) of.remove_suffix(5);
    name = fmt::format("{}.q16", of);
  }
  if (word == Word::kQuantizedAt) values.push_back(tensor(call.arguments[1], frame, ""));
  const Typed type = guard({&argument, &call.arguments.back()}, [&] {
    const Typed& x = typed_[index(values[0])];
    return word == Word::kQuantized ? type_quantized(x)
                                    : type_quantized_at(x, typed_[index(values[1])]);
  });
  return emit(word, type, values, name);
}

int Unrolling::plain_word(Word word, const Expression& call, Frame* frame,
                          const std::string& name) {
  const Expression& argument = call.arguments[0];
  const int value = tensor(argument, frame, "");
  std::string result_name;
  const Typed type = guard({&argument}, [&] {
    const Typed& x = typed_[index(value)];
    switch (word) {
      case Word::kSilu:
        return type_silu(x);
      case Word::kLastRow:
        return type_last_row(x);
      case Word::kPeak:
        return type_peak(x);
      case Word::kScaled:
        result_name = name;
        return type_scaled(x);
      case Word::kJoinedOverChips:
        result_name = name;
        return type_over_chips(word, x);
      case Word::kHeldOverChips:
        result_name = name.empty() ? "" : "embedding";
        return type_over_chips(word, x);
      default:
        return type_over_chips(word, x);
    }
  });
  return emit(word, type, {value}, result_name);
}

}  // namespace logos
