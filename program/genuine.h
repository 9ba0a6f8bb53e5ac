#pragma once

#include <string_view>
#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "program/written.h"

namespace logos {

/// Reads spec, cut, chips, inputs and directory from the text itself (parse errors as
/// `file:line:column`).
Facts read_facts(std::string_view text, std::string_view file);

/// The identity of a text, after having `author` write it again from its own facts and comparing
/// byte for byte. Throws Error with both digests and the first line that differs.
Identity genuine(std::string_view text, std::string_view file);

/// What every `lower` does first: `genuine`, then the identity against the one asked for (the Error
/// names both), then that the sums of attention are exact (`check_attended`), then the program of
/// each chip.
std::vector<Program> read_genuine(std::string_view text, std::string_view file,
                                  const Identity& asked);

}  // namespace logos
