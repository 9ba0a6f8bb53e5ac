#include "program/genuine.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/attention_bound.h"
#include "program/author.h"
#include "program/check_facts.h"
#include "program/error.h"
#include "program/read_program.h"

namespace logos {
namespace {

// All chips' programs of one text: their operations and rows together. Far above any model (126
// layers over 128 chips take 800,000) and a bound on what a hostile text can take.
constexpr std::int64_t kMostUnrolled = std::int64_t{1} << 22;

std::string_view line_at(std::string_view text, std::size_t position) {
  if (position >= text.size()) return "";
  const std::size_t before =
      position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// The line at a position, quoted; of a long one what is around the position.
std::string shown_at(std::string_view text, std::size_t position) {
  constexpr std::size_t kBefore = 30;
  if (position >= text.size()) return "nothing more";
  const std::string_view line = line_at(text, position);
  const std::size_t column = position - static_cast<std::size_t>(line.data() - text.data());
  return quote(column > kBefore ? line.substr(column - kBefore) : line);
}

/// Compares a text with what `author` writes from the text's own facts. A text that equals it needs
/// no other check: it is canonical and well typed.
Identity identity_of(const Source& source, const Facts& facts) {
  const std::string wanted = author(facts);
  const Facts placeholder = facts.placeholder();
  Identity identity = {facts.cut.text(), facts.chips,
                       sha256_hex(facts == placeholder ? wanted : author(placeholder))};
  if (source.text == wanted) return identity;
  const auto different =
      std::mismatch(source.text.begin(), source.text.end(), wanted.begin(), wanted.end());
  const auto position = static_cast<std::size_t>(different.first - source.text.begin());
  const Place place = place_of(source.text, position);
  throw Error(
      fmt::format("{}:{}:{}", source.file, place.line, place.column),
      fmt::format("not the text that the author writes for these facts: it has {} where that "
                  "has {}",
                  shown_at(source.text, position), shown_at(wanted, position)),
      fmt::format("sha256 {}", sha256_hex(source.text)),
      fmt::format("sha256 {}", sha256_hex(wanted)));
}

/// Where the last row of a cut stands, as far as the text knows: a chunk of a placeholder form at
/// least at its number of rows.
std::int64_t last_position(const Facts& facts) {
  if (facts.cut.work != Cut::Work::kPrefill) return facts.cut.context;
  return facts.positions.empty() ? facts.cut.rows : facts.positions.back();
}

/// The text with its facts; where it cannot be read, the refusal has its digest beside the one
/// asked for.
ReadText parse_asked(const Source& source, const Identity& asked) {
  try {
    return parse_text(source);
  } catch (const Error& fault) {
    throw Error(source.file, fmt::format("not a text that the author wrote: {}", fault.what()),
                fmt::format("sha256 {}", sha256_hex(source.text)),
                fmt::format("sha256 {} in its placeholder form", asked.sha256));
  }
}

}  // namespace

Facts read_facts(std::string_view text, std::string_view file) {
  return parse_text({text, file}).facts;
}

Identity genuine(std::string_view text, std::string_view file) {
  const Source source = {text, file};
  return identity_of(source, parse_text(source).facts);
}

std::vector<Program> read_genuine(std::string_view text, std::string_view file,
                                  const Identity& asked) {
  const Source source = {text, file};
  const ReadText read = parse_asked(source, asked);
  const Identity found = identity_of(source, read.facts);
  if (found != asked) {
    throw Error(file, "another program than the one asked for", found.text(), asked.text());
  }
  if (takes_positions(read.facts.cut)) {
    check_attended(last_position(read.facts), read.facts.spec.window, file);
  }
  std::vector<Program> programs;
  programs.push_back(program_of(source, read, 0));
  const std::int64_t of_each =
      static_cast<std::int64_t>(programs[0].operations.size()) + programs[0].rows;
  if (of_each > kMostUnrolled / read.facts.chips) {
    throw Error(file, "too large a program to unroll for every chip",
                fmt::format("{} chips of {} operations and rows", read.facts.chips, of_each),
                fmt::format("at most {} together", kMostUnrolled));
  }
  for (std::int64_t chip = 1; chip < read.facts.chips; ++chip) {
    programs.push_back(program_of(source, read, chip));
  }
  return programs;
}

}  // namespace logos
