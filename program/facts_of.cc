#include "program/facts_of.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "program/check.h"
#include "program/check_facts.h"
#include "program/spec_fault.h"
#include "program/text/printer.h"

namespace logos {
namespace {

constexpr std::string_view kProfileA = "OFA-1 profile A, groups of 32";
constexpr std::string_view kProfileB = "OFA-1 profile B, groups of 32";

/// Reads a section of `Let`s in the one order that it has.
class Lets {
 public:
  Lets(const Source& source, const std::vector<Statement>& lets, Place end)
      : source_(source), lets_(lets), end_(end) {}

  bool at(std::string_view name) const { return next_ < lets_.size() && lets_[next_].name == name; }

  const Expression& take(std::string_view name) {
    if (next_ == lets_.size()) refuse(source_, end_, "the end of the section", let(name));
    const Statement& statement = lets_[next_];
    if (statement.name != name) {
      refuse(source_, statement.name_place, quote(statement.name), let(name));
    }
    ++next_;
    return statement.value;
  }

  void end() const {
    if (next_ == lets_.size()) return;
    const Statement& statement = lets_[next_];
    refuse(source_, statement.place, let(statement.name), "the end of the section");
  }

 private:
  static std::string let(std::string_view name) { return fmt::format("\"Let {} be\"", name); }

  const Source& source_;
  const std::vector<Statement>& lets_;
  Place end_;
  std::size_t next_ = 0;
};

class FactsReader {
 public:
  FactsReader(const Source& source, const Syntax& syntax) : source_(source), syntax_(syntax) {}

  Facts read() {
    facts_.cut = syntax_.cut;
    facts_.chips = syntax_.chips;
    facts_.directory = syntax_.directory;
    if (syntax_.directory_place && syntax_.directory.empty()) {
      refuse(source_, *syntax_.directory_place, "an empty directory", "a directory, or no line");
    }
    model();
    manifest();
    cut();
    inputs();
    return std::move(facts_);
  }

 private:
  std::int64_t whole_number(const Expression& value) const {
    if (value.kind == Expression::Kind::kInt) return value.integer;
    refuse(source_, value.place, describe(value), "a whole number");
  }

  double number(const Expression& value) const {
    if (value.kind == Expression::Kind::kInt || value.kind == Expression::Kind::kDecimal) {
      return value.decimal;
    }
    refuse(source_, value.place, describe(value), "a number");
  }

  /// The numbers of a call of `count` of them.
  std::vector<double> numbers(const Expression& call, std::size_t count) const {
    if (call.arguments.size() != count) {
      refuse(source_, call.place,
             fmt::format("{} with {} numbers", call.name, call.arguments.size()),
             fmt::format("{}", count));
    }
    std::vector<double> result;
    for (const Expression& argument : call.arguments) result.push_back(number(argument));
    return result;
  }

  void model() {
    Lets lets(source_, syntax_.model, syntax_.model_place);
    ModelSpec& spec = facts_.spec;
    const Expression& arithmetic = lets.take("arithmetic");
    const bool is_string = arithmetic.kind == Expression::Kind::kString;
    if (!is_string || (arithmetic.text != kProfileA && arithmetic.text != kProfileB)) {
      refuse(source_, arithmetic.place, describe(arithmetic),
             fmt::format("\"{}\" or \"{}\"", kProfileA, kProfileB));
    }
    spec.profile = arithmetic.text == kProfileA ? Profile::kA : Profile::kB;
    const auto size = [&](const char* name) {
      const Expression& value = lets.take(name);
      places_[name] = value.place;
      return whole_number(value);
    };
    spec.layers = size("layers");
    spec.columns = size("columns");
    spec.query_heads = size("query_heads");
    spec.key_heads = size("key_heads");
    spec.head_columns = size("head_columns");
    spec.hidden_columns = size("hidden_columns");
    spec.vocabulary = size("vocabulary");
    const Expression& epsilon = lets.take("norm_epsilon");
    places_["norm_epsilon"] = epsilon.place;
    spec.norm_epsilon = number(epsilon);
    spec.rotary = rotary(lets.take("rotary"));
    if (lets.at("window")) spec.window = size("window");
    if (const auto fault = find_fault(spec)) {
      CHECK(places_.count(fault->key) == 1);
      refuse(source_, places_[fault->key], fmt::format("{} ({})", fault->got, fault->what),
             fault->want);
    }
    chips(&lets);
    lets.end();
  }

  void chips(Lets* lets) {
    std::int64_t chips = 1;
    Place place = syntax_.chips_place;
    if (facts_.chips > 1 || lets->at("chips")) {
      const Expression& value = lets->take("chips");
      chips = whole_number(value);
      place = value.place;
    }
    if (chips != facts_.chips) {
      refuse(source_, place, fmt::format("{} chips", chips),
             fmt::format("{}, as the title says", facts_.chips));
    }
    if (chips > facts_.spec.query_heads) {
      refuse(source_, place, fmt::format("{} chips", chips),
             fmt::format("at most {}, a query head for each", facts_.spec.query_heads));
    }
  }

  Rotary rotary(const Expression& value) {
    places_["rotary"] = value.place;
    Rotary result;
    if (value.kind == Expression::Kind::kCall && value.name == "plain") {
      result.base = numbers(value, 1)[0];
    } else if (value.kind == Expression::Kind::kCall && value.name == "linear") {
      const auto n = numbers(value, 2);
      result.kind = Rotary::Kind::kLinear;
      result.base = n[0];
      result.factor = n[1];
    } else if (value.kind == Expression::Kind::kCall && value.name == "llama3") {
      const auto n = numbers(value, 5);
      result = {Rotary::Kind::kLlama3, n[0], n[1], n[2], n[3], n[4]};
    } else {
      refuse(source_, value.place, describe(value), "plain(…), linear(…) or llama3(…)");
    }
    return result;
  }

  /// What the manifest says of a model beyond its numbers.
  void manifest() {
    const bool has_head =
        facts_.cut.part == Cut::Part::kWhole || facts_.cut.part == Cut::Part::kHead;
    bool own_head = false;
    for (const Declaration& declaration : syntax_.manifest) {
      if (declaration.kind == Declaration::Kind::kWeight && declaration.name == "head") {
        own_head = true;
      }
      for (const Declaration& inner : declaration.body) {
        if (inner.kind == Declaration::Kind::kBias) facts_.spec.qkv_bias = true;
        if (inner.kind == Declaration::Kind::kGain && inner.name == "query norm {n}") {
          facts_.spec.qk_norm = true;
        }
      }
    }
    facts_.spec.tied_head = has_head && !own_head;
  }

  void cut() const {
    if (facts_.cut.part != Cut::Part::kLayer || facts_.cut.layer <= facts_.spec.layers) return;
    refuse(source_, syntax_.cut_place, fmt::format("layer {}", facts_.cut.layer),
           fmt::format("1 to {}", facts_.spec.layers));
  }

  bool is_chunk() const { return facts_.cut.work == Cut::Work::kPrefill; }

  void inputs() {
    Lets lets(source_, syntax_.inputs, syntax_.inputs_place);
    const Expression* tokens = nullptr;
    const Expression* positions = nullptr;
    if (takes_tokens(facts_.cut)) tokens = &lets.take("tokens");
    if (takes_positions(facts_.cut)) positions = &lets.take("positions");
    if (facts_.cut.part == Cut::Part::kLayer || facts_.cut.part == Cut::Part::kHead) {
      given(lets.take("x"));
    }
    lets.end();
    if (tokens != nullptr) read_tokens(*tokens);
    if (positions != nullptr) read_positions(*positions);
    settle_placeholders(tokens, positions);
  }

  void given(const Expression& x) const {
    const bool fits =
        x.kind == Expression::Kind::kCall && x.name == "given" && x.arguments.size() == 2;
    if (!fits) refuse(source_, x.place, describe(x), "given(rows, columns)");
    check_rows(whole_number(x.arguments[0]), x.arguments[0].place, "rows");
    const Expression& columns = x.arguments[1];
    if (columns.kind != Expression::Kind::kName || columns.name != "columns") {
      refuse(source_, columns.place, describe(columns), "\"columns\"");
    }
  }

  void check_rows(std::int64_t rows, Place place, std::string_view what) const {
    if (rows == facts_.cut.rows) return;
    refuse(source_, place, fmt::format("{} {}", rows, what),
           fmt::format("{}, as the title says", facts_.cut.rows));
  }

  /// `repeated(1, R)`: the placeholder form of more than one row.
  bool is_repeated(const Expression& value) const {
    if (value.kind != Expression::Kind::kCall || value.name != "repeated") return false;
    if (value.arguments.size() != 2) {
      refuse(source_, value.place, describe(value), "repeated(1, rows)");
    }
    if (whole_number(value.arguments[0]) != 1) {
      refuse(source_, value.arguments[0].place, describe(value.arguments[0]),
             "1, the placeholder of every row, or a list");
    }
    check_rows(whole_number(value.arguments[1]), value.arguments[1].place, "rows");
    if (facts_.cut.rows == 1) refuse(source_, value.place, "repeated(…)", "[1]");
    return true;
  }

  void check_list(const Expression& value, std::string_view name, std::int64_t most) const {
    if (value.kind != Expression::Kind::kList) {
      refuse(source_, value.place, describe(value), "a list or repeated(1, rows)");
    }
    check_rows(static_cast<std::int64_t>(value.items.size()), value.place, name);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (value.items[i] >= 1 && value.items[i] <= most) continue;
      refuse(source_, {value.place.line, value.item_columns[i]}, fmt::format("{}", value.items[i]),
             fmt::format("1 to {}", most));
    }
  }

  void read_tokens(const Expression& value) {
    if (is_repeated(value)) return;
    check_list(value, "tokens", facts_.spec.vocabulary);
    facts_.tokens = value.items;
  }

  void read_positions(const Expression& value) {
    if (is_chunk()) {
      const bool fits = value.kind == Expression::Kind::kCall && value.name == "counted" &&
                        value.arguments.size() == 2;
      if (!fits) refuse(source_, value.place, describe(value), "counted(first, rows)");
      check_rows(whole_number(value.arguments[1]), value.arguments[1].place, "rows");
      constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
      first_position_ = whole_number(value.arguments[0]);
      if (first_position_ < 1 || first_position_ > kMost - facts_.cut.rows + 1) {
        refuse(source_, value.arguments[0].place, fmt::format("{}", first_position_),
               fmt::format("1 to {}", kMost - facts_.cut.rows + 1));
      }
      return;
    }
    if (is_repeated(value)) return;
    check_list(value, "positions", facts_.cut.context);
    facts_.positions = value.items;
  }

  /// Placeholders stand in all inputs of a text or in none. What reads both ways, `[1]` and
  /// `counted(1, R)`, follows the other input, and is a placeholder where that says nothing.
  void settle_placeholders(const Expression* tokens, const Expression* positions) {
    const bool chunk = is_chunk();
    const bool one = facts_.cut.rows == 1;
    const auto is_one = [&](const std::vector<std::int64_t>& list) {
      return one && !list.empty() && list.front() == 1;
    };
    const bool may_tokens = tokens == nullptr || facts_.tokens.empty() || is_one(facts_.tokens);
    const bool may_positions =
        positions == nullptr ||
        (chunk ? first_position_ == 1 : facts_.positions.empty() || is_one(facts_.positions));
    if (may_tokens && may_positions) {
      facts_.tokens.clear();
      facts_.positions.clear();
      return;
    }
    if (tokens != nullptr && facts_.tokens.empty()) {
      refuse(source_, tokens->place, "placeholder tokens beside a run's positions", "a list");
    }
    if (positions == nullptr) return;
    if (!chunk && facts_.positions.empty()) {
      refuse(source_, positions->place, "placeholder positions beside a run's tokens", "a list");
    }
    if (!chunk) return;
    for (std::int64_t i = 0; i < facts_.cut.rows; ++i) {
      facts_.positions.push_back(first_position_ + i);
    }
  }

  const Source& source_;
  const Syntax& syntax_;
  Facts facts_;
  std::map<std::string, Place> places_;  ///< of the values of the model's facts
  std::int64_t first_position_ = 1;
};

Expression call(std::string name, std::int64_t a, std::int64_t b) {
  Expression result;
  result.kind = Expression::Kind::kCall;
  result.name = std::move(name);
  result.arguments.resize(2);
  result.arguments[0].integer = a;
  result.arguments[1].integer = b;
  return result;
}

}  // namespace

Facts facts_of(const Source& source, const Syntax& syntax) {
  return FactsReader(source, syntax).read();
}

Syntax placeholder_of(const Syntax& syntax) {
  Syntax result = syntax;
  result.directory.clear();
  result.directory_place.reset();
  const std::int64_t rows = syntax.cut.rows;
  for (Statement& input : result.inputs) {
    if (input.name == "x") continue;
    if (input.name == "positions" && syntax.cut.work == Cut::Work::kPrefill) {
      input.value = call("counted", 1, rows);
    } else if (rows == 1) {
      input.value = {};
      input.value.kind = Expression::Kind::kList;
      input.value.items = {1};
    } else {
      input.value = call("repeated", 1, rows);
    }
  }
  return result;
}

}  // namespace logos
