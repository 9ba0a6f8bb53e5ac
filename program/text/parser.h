#pragma once

#include "program/text/source.h"
#include "program/text/syntax.h"

namespace logos {

/// Reads a text by the grammar alone. Throws Error at `file:line:column`. Hostile texts are
/// bounded: size, lines, nesting, terms and items of a list.
Syntax parse(const Source& source);

/// `parse`, then refuses a text that is not `print(parse(text))`, at the first byte that differs.
Syntax read_syntax(const Source& source);

}  // namespace logos
