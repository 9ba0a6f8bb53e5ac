#pragma once

#include "program/facts.h"
#include "program/program.h"
#include "program/text/syntax.h"

namespace logos {

/// Checks names, types and spreads of a whole text and unrolls its loops and functions for one chip
/// (from 0). The result lacks what concerns the text as bytes or grows with the rows: identity,
/// lines, tokens and positions. Throws Error at `file:line:column`.
Program unroll(const Source& source, const Syntax& syntax, const Facts& facts, std::int64_t chip);

}  // namespace logos
