#include "program/program.h"

#include <fmt/format.h>

#include <numeric>

#include "program/check_facts.h"
#include "program/error.h"
#include "program/facts_of.h"
#include "program/read_program.h"
#include "program/text/parser.h"
#include "program/text/printer.h"
#include "program/unroller.h"

namespace logos {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The inputs as lists, placeholders too.
void put_inputs(const Facts& facts, Program* program) {
  const auto rows = static_cast<std::size_t>(facts.cut.rows);
  const bool placeholder = facts.tokens.empty() && facts.positions.empty();
  program->tokens = facts.tokens;
  program->positions = facts.positions;
  if (!placeholder) return;
  if (takes_tokens(facts.cut)) program->tokens.assign(rows, 1);
  if (!takes_positions(facts.cut)) return;
  program->positions.assign(rows, 1);
  if (program->is_chunk) std::iota(program->positions.begin(), program->positions.end(), 1);
}

ReadText with_facts(const Source& source, Syntax syntax) {
  if (syntax.cut.rows > kMostRunRows) {
    refuse(source, syntax.cut_place, fmt::format("{} rows", syntax.cut.rows),
           fmt::format("at most {} for a program that runs", kMostRunRows));
  }
  ReadText read;
  read.syntax = std::move(syntax);
  read.facts = facts_of(source, read.syntax);
  read.placeholder = print(placeholder_of(read.syntax));
  return read;
}

}  // namespace

ReadText parse_text(const Source& source) { return with_facts(source, parse(source)); }

ReadText read_text(const Source& source) {
  Syntax syntax = parse(source);
  check_canonical(source, syntax);
  return with_facts(source, std::move(syntax));
}

Program program_of(const Source& source, const ReadText& read, std::int64_t chip) {
  const Facts& facts = read.facts;
  if (chip < 0 || chip >= facts.chips) {
    throw Error(source.file, "a chip that the program does not have", fmt::format("{}", chip),
                fmt::format("0 to {}", facts.chips - 1));
  }
  Program program = unroll(source, read.syntax, facts, chip);
  program.identity = {facts.cut.text(), facts.chips, sha256_hex(read.placeholder)};
  program.lines = lines_of(read.placeholder);
  put_inputs(facts, &program);
  return program;
}

void check_text(const Source& source) {
  const ReadText read = read_text(source);
  unroll(source, read.syntax, read.facts, 0);
}

Program read_program(std::string_view text, std::string_view file, std::int64_t chip) {
  const Source source = {text, file};
  return program_of(source, read_text(source), chip);
}

}  // namespace logos
