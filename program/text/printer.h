#pragma once

#include <string>

#include "program/text/syntax.h"

namespace logos {

/// The one text that a program's syntax has. `author` writes this form; `check_canonical` holds
/// every text to it.
std::string print(const Syntax& syntax);

/// `# The decode step over a cache of 1024 positions, over 2 chips`, without the end of line.
std::string print_title(const Cut& cut, std::int64_t chips);

/// An expression as errors name it.
std::string describe(const Expression& value);

}  // namespace logos
