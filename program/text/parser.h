#pragma once

#include "program/text/source.h"
#include "program/text/syntax.h"

namespace logos {

/// Reads a text by the grammar alone. Throws Error at `file:line:column`. Hostile texts are
/// bounded: size, lines, nesting, terms and items of a list.
Syntax parse(const Source& source);

/// Refuses a text that is not `print(syntax)` of its own syntax, at the first byte that differs.
void check_canonical(const Source& source, const Syntax& syntax);

}  // namespace logos
