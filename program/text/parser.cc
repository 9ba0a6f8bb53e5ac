#include "program/text/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/text/parse_statement.h"
#include "program/text/printer.h"
#include "program/text/token_reader.h"

namespace logos {
namespace {

class Parser {
 public:
  explicit Parser(const Source& source) : tokens_(source), statements_(&tokens_) {}

  Syntax program() {
    title();
    section("Model");
    syntax_.model = statements_.lets();
    syntax_.model_place = tokens_.place();
    section("Manifest");
    directory();
    syntax_.manifest = declarations(0);
    while (at_section()) {
      if (!tokens_.skip_sign("##")) tokens_.fail("\"##\"");
      if (tokens_.at_word("Inputs")) break;
      function();
    }
    tokens_.expect("Inputs");
    tokens_.expect_end_of_line();
    syntax_.inputs = statements_.lets();
    syntax_.inputs_place = tokens_.place();
    section("Main");
    syntax_.main = statements_.statements(0);
    syntax_.main_place = tokens_.place();
    if (!tokens_.at_end()) tokens_.fail("end of text");
    return std::move(syntax_);
  }

 private:
  bool at_section() const {
    if (tokens_.at_sign("##")) return true;
    tokens_.fail("\"##\"");
  }

  void section(std::string_view name) {
    tokens_.expect("##");
    tokens_.expect(name);
    tokens_.expect_end_of_line();
  }

  void title() {
    tokens_.expect("#");
    syntax_.cut_place = tokens_.place();
    Cut& cut = syntax_.cut;
    if (tokens_.skip_word("Layer")) {
      cut.part = Cut::Part::kLayer;
      cut.layer = title_number();
      tokens_.expect("of");
      phrase();
    } else if (tokens_.skip_word("A")) {
      chunk_or_batch();
    } else if (tokens_.skip_word("The")) {
      if (tokens_.skip_word("embedding")) {
        cut.part = Cut::Part::kEmbedding;
      } else if (tokens_.skip_word("head")) {
        cut.part = Cut::Part::kHead;
      }
      if (cut.part == Cut::Part::kWhole) {
        step();
      } else {
        tokens_.expect("of");
        phrase();
      }
    } else {
      tokens_.fail("\"The\", \"A\" or \"Layer\"");
    }
    syntax_.chips_place = tokens_.place();
    if (tokens_.skip_sign(",")) {
      tokens_.expect("over");
      syntax_.chips_place = tokens_.place();
      syntax_.chips = title_number();
      if (syntax_.chips < 2) {
        refuse(tokens_.source(), syntax_.chips_place, fmt::format("{} chips", syntax_.chips),
               "2 chips or more");
      }
      tokens_.expect("chips");
    }
    tokens_.expect_end_of_line();
  }

  void phrase() {
    if (tokens_.skip_word("the")) {
      step();
    } else if (tokens_.skip_word("a")) {
      chunk_or_batch();
    } else {
      tokens_.fail("\"the decode step\", \"a prefill chunk\" or \"a batch\"");
    }
  }

  void step() {
    tokens_.expect("decode step over a cache of");
    syntax_.cut.context = title_number();
    tokens_.expect("positions");
  }

  void chunk_or_batch() {
    if (tokens_.skip_word("batch")) {
      syntax_.cut.work = Cut::Work::kBatch;
      tokens_.expect("of");
      syntax_.cut.rows = title_number();
      tokens_.expect("sequences over caches of");
      syntax_.cut.context = title_number();
      tokens_.expect("positions");
    } else {
      syntax_.cut.work = Cut::Work::kPrefill;
      tokens_.expect("prefill chunk of");
      syntax_.cut.rows = title_number();
      tokens_.expect("tokens");
    }
  }

  /// The numbers of a title are those of a cut.
  std::int64_t title_number() {
    const Place place = tokens_.place();
    const std::int64_t value = tokens_.expect_int();
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    if (value < 1 || value > kMost) {
      refuse(tokens_.source(), place, fmt::format("{}", value), fmt::format("1 to {}", kMost));
    }
    return value;
  }

  void directory() {
    if (!tokens_.at_word("Weights")) return;
    syntax_.directory_place = tokens_.place();
    tokens_.expect("Weights lie under");
    syntax_.directory = tokens_.expect_string();
    tokens_.expect(".");
    tokens_.expect_end_of_line();
  }

  std::vector<Declaration> declarations(int depth) {
    std::vector<Declaration> body;
    while (statements_.at_line(depth) && !tokens_.at_sign("##")) {
      body.push_back(declaration(depth));
    }
    return body;
  }

  Declaration declaration(int depth) {
    Declaration result;
    result.place = tokens_.place();
    if (depth == 0 && tokens_.at_word("Repeat")) {
      result.kind = Declaration::Kind::kRepeat;
      statements_.repeat_head(&result.name, &result.name_place, &result.from, &result.to);
      result.body = declarations(1);
      if (result.body.empty()) tokens_.fail("the body of the loop");
      return result;
    }
    if (tokens_.skip_word("Weight")) {
      weight(&result);
    } else if (tokens_.skip_word("Gain")) {
      vector(Declaration::Kind::kGain, &result);
    } else if (tokens_.skip_word("Bias")) {
      vector(Declaration::Kind::kBias, &result);
    } else if (tokens_.skip_word("Cache")) {
      cache(&result);
    } else {
      tokens_.fail(depth == 0 ? "\"Weight\", \"Gain\", \"Bias\", \"Cache\", \"Repeat\" or \"##\""
                              : "\"Weight\", \"Gain\", \"Bias\" or \"Cache\"");
    }
    result.share_place = tokens_.place();
    if (tokens_.skip_sign(";")) {
      tokens_.expect("each chip holds");
      result.share_place = tokens_.place();
      result.share = share();
    }
    tokens_.expect(".");
    tokens_.expect_end_of_line();
    return result;
  }

  void names(Declaration* result) {
    result->name_place = tokens_.place();
    result->name = tokens_.expect_string();
    tokens_.expect("is");
    result->tensor_place = tokens_.place();
    result->tensor = tokens_.expect_string();
    tokens_.expect(":");
    result->rows_place = tokens_.place();
    result->rows = tokens_.expect_int();
  }

  void weight(Declaration* result) {
    result->kind = Declaration::Kind::kWeight;
    names(result);
    tokens_.expect("rows of");
    result->columns_place = tokens_.place();
    result->columns = tokens_.expect_int();
  }

  void vector(Declaration::Kind kind, Declaration* result) {
    result->kind = kind;
    names(result);
  }

  void cache(Declaration* result) {
    result->kind = Declaration::Kind::kCache;
    result->name_place = tokens_.place();
    result->name = tokens_.expect_string();
    tokens_.expect("has");
    result->positions_place = tokens_.place();
    if (tokens_.skip_word("the")) {
      tokens_.expect("run's");
    } else {
      result->positions = tokens_.expect_int();
    }
    tokens_.expect("positions of");
    result->heads_place = tokens_.place();
    result->heads = tokens_.expect_int();
    tokens_.expect("heads of");
    result->columns_place = tokens_.place();
    result->columns = tokens_.expect_int();
    tokens_.expect(",");
    result->sharing_place = tokens_.place();
    if (tokens_.skip_word("shared")) {
      tokens_.expect("by all rows");
    } else {
      tokens_.expect("one for each row");
      result->one_for_each_row = true;
    }
  }

  /// The clauses share their beginnings, so the words are gathered and looked up whole.
  HeldShare share() {
    std::string words;
    const Place place = tokens_.place();
    while (tokens_.peek().kind == Token::Kind::kWord && words.size() < 60) {
      if (!words.empty()) words += ' ';
      words += tokens_.take().text;
    }
    for (const HeldShare share :
         {HeldShare::kRows, HeldShare::kColumns, HeldShare::kQueryHeadRows, HeldShare::kKeyHeadRows,
          HeldShare::kQueryHeadColumns, HeldShare::kKeyHeads}) {
      if (share_words(share) == words) return share;
    }
    refuse(tokens_.source(), place, quote(words),
           "its share of the rows, its share of the columns, the rows of its query heads, the rows "
           "of its key heads, the columns of its query heads or its key heads");
  }

  void function() {
    tokens_.expect("To");
    Function result;
    result.place = tokens_.place();
    result.name = tokens_.expect_name();
    tokens_.expect("(");
    do {
      Parameter parameter;
      parameter.place = tokens_.place();
      parameter.name = tokens_.expect_name();
      tokens_.expect(":");
      if (!tokens_.at_word("Rows") && !tokens_.at_word("Int")) tokens_.fail("\"Rows\" or \"Int\"");
      parameter.rows = tokens_.take().text == "Rows";
      result.parameters.push_back(std::move(parameter));
    } while (tokens_.skip_sign(","));
    tokens_.expect(") -> Rows :");
    tokens_.expect_end_of_line();
    result.body = statements_.statements(1);
    if (result.body.empty()) tokens_.fail("the body of the function");
    syntax_.functions.push_back(std::move(result));
  }

  TokenReader tokens_;
  StatementParser statements_;
  Syntax syntax_;
};

/// The rest of a line from a byte on, as errors show it.
std::string rest_of_line(std::string_view text, std::size_t position) {
  if (position >= text.size()) return "end of text";
  if (text[position] == '\n') return "end of line";
  const std::string_view rest = text.substr(position);
  return quote(rest.substr(0, std::min<std::size_t>(rest.find('\n'), 24)));
}

}  // namespace

Syntax parse(const Source& source) { return Parser(source).program(); }

void check_canonical(const Source& source, const Syntax& syntax) {
  const std::string canonical = print(syntax);
  if (source.text == canonical) return;
  const auto different =
      std::mismatch(source.text.begin(), source.text.end(), canonical.begin(), canonical.end());
  const auto position = static_cast<std::size_t>(different.first - source.text.begin());
  refuse(source, place_of(source.text, position), rest_of_line(source.text, position),
         rest_of_line(canonical, position));
}

}  // namespace logos
