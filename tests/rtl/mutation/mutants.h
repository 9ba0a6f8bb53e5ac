#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace logos::mutation {

/// What is done to a place of a SystemVerilog file. README.md says each with an example.
enum class Operator {
  kNegate,     ///< a condition
  kRelation,   ///< == for !=, < for <=, …
  kSign,       ///< + for -
  kLogic,      ///< && for ||
  kBits,       ///< & for |, ^ for |
  kShift,      ///< << for >>
  kConstant,   ///< one more
  kIndex,      ///< its neighbour
  kBranches,   ///< of ?: swapped
  kOperands,   ///< of - swapped
  kTerm,       ///< && x, || x, + x dropped
  kStuck,      ///< bit 0 of what is assigned stands at 1
  kAssignment  ///< dropped
};
inline constexpr std::size_t kOperators = 13;

std::string_view name_of(Operator what);

/// A fault that can be planted. It works alone: a place shows its mutant while the variable that
/// `plant` names holds the mutant's number, and otherwise what the file says.
struct Mutant {
  enum class Where { kStatement, kCondition, kContinuous };
  Where where;
  std::size_t begin;  ///< bytes of the file: the statement, or the expression
  std::size_t end;
  int line;  ///< from 1
  Operator what;
  std::string before;  ///< the statement or the expression, on one line
  std::string after;   ///< the same; "" where it is dropped
};

/// All mutants of a file, in its order: in continuous assignments, functions and always blocks.
std::vector<Mutant> mutants_of(std::string_view source);

struct Numbered {
  int number;
  Mutant mutant;
};

/// The file with these mutants in it, each shown while `active` (an expression) equals its number.
/// Lines keep their numbers.
std::string plant(std::string_view source, const std::vector<Numbered>& mutants,
                  std::string_view active);

}  // namespace logos::mutation
