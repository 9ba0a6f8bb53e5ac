#pragma once

#include <string>
#include <string_view>

#include "program/facts.h"
#include "program/program.h"
#include "program/text/syntax.h"

namespace logos {

/// A text that parsed, with what it states: read once for the programs of all chips.
struct ReadText {
  Syntax syntax;
  Facts facts;
  std::string placeholder;  ///< the text in its placeholder form
};
/// `parse_text` takes spaces as they come; `read_text` refuses a text that is not canonical.
ReadText parse_text(const Source& source);
ReadText read_text(const Source& source);

/// The program of one chip (from 0) of a text.
Program program_of(const Source& source, const ReadText& read, std::int64_t chip);

/// Checks canonical form, names, types and spreads without making a program of it, for any number
/// of rows. Throws Error at `file:line:column`.
void check_text(const Source& source);

}  // namespace logos
