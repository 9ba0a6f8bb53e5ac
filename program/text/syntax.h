#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/cut.h"
#include "program/text/source.h"

namespace logos {

/// What a LOGOS text says, as its grammar has it (program/language.md); every node knows its place.

struct Expression {
  enum class Kind {
    kInt,      ///< 16
    kDecimal,  ///< 0.00001
    kString,   ///< "OFA-1 profile A, groups of 32"
    kName,     ///< positions
    kCall,     ///< name(arguments)
    kNoun,     ///< weight "query {n}": `name` is the noun, `text` what it names
    kList,     ///< [1, 2, 3]
    kBinary    ///< arguments[0] name arguments[1]; name is + or *
  };
  Kind kind = Kind::kInt;
  Place place;
  std::string name;
  std::string text;
  std::int64_t integer = 0;
  double decimal = 0;
  std::vector<Expression> arguments;
  std::vector<std::int64_t> items;
  std::vector<int> item_columns;  ///< where each item of a list stands
};

struct Statement {
  enum class Kind { kLet, kSet, kPush, kRepeat, kReturn, kShow };
  Kind kind = Kind::kLet;
  Place place;
  std::string name;   ///< let, set: what is named; repeat: the counter
  Place name_place;   ///< let, set, repeat
  Expression value;   ///< let, set, push, return, show
  std::string cache;  ///< push: with holes
  Place cache_place;
  std::string positions;  ///< push
  Place positions_place;
  Expression from;              ///< repeat: an int
  Expression to;                ///< repeat: an int or a name
  std::vector<Statement> body;  ///< repeat
};

/// `; each chip holds …`
enum class HeldShare {
  kAll,  ///< no clause
  kRows,
  kColumns,
  kQueryHeadRows,
  kKeyHeadRows,
  kQueryHeadColumns,
  kKeyHeads
};

struct Declaration {
  enum class Kind { kWeight, kGain, kBias, kCache, kRepeat };
  Kind kind = Kind::kWeight;
  Place place;
  std::string name;  ///< with holes; repeat: the counter
  Place name_place;
  std::string tensor;  ///< with holes; all but caches
  Place tensor_place;
  std::int64_t rows = 0;  ///< weight; gain and bias: the size
  Place rows_place;
  std::int64_t columns = 0;  ///< weight; cache: of a head
  Place columns_place;
  std::optional<std::int64_t> positions;  ///< cache; null: the run's
  Place positions_place;
  std::int64_t heads = 0;  ///< cache
  Place heads_place;
  bool one_for_each_row = false;  ///< cache
  Place sharing_place;
  HeldShare share = HeldShare::kAll;
  Place share_place;
  Expression from;                ///< repeat: an int
  Expression to;                  ///< repeat: an int or a name
  std::vector<Declaration> body;  ///< repeat
};

struct Parameter {
  std::string name;
  bool rows = true;  ///< Rows or Int
  Place place;
};

struct Function {
  Place place;  ///< of its name
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
};

struct Syntax {
  Cut cut;
  std::int64_t chips = 1;
  Place cut_place;
  Place chips_place;
  std::vector<Statement> model;
  Place model_place;  ///< where the section ends: what is missing is missed there
  std::string directory;
  std::optional<Place> directory_place;  ///< null: no `Weights lie under` line
  std::vector<Declaration> manifest;
  std::vector<Function> functions;
  std::vector<Statement> inputs;
  Place inputs_place;  ///< where the section ends
  std::vector<Statement> main;
  Place main_place;  ///< where the text ends
};

/// The words of a clause: "its share of the rows"; "" for kAll.
std::string_view share_words(HeldShare share);

}  // namespace logos
