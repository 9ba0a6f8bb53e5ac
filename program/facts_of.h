#pragma once

#include "program/facts.h"
#include "program/text/syntax.h"

namespace logos {

/// Reads what a text states: its model, cut, chips, inputs and directory. Throws Error at
/// `file:line:column` where they are not those of a program or contradict each other.
Facts facts_of(const Source& source, const Syntax& syntax);

/// The text's syntax with placeholder inputs and without its directory: what its identity and the
/// numbers of its lines are taken from.
Syntax placeholder_of(const Syntax& syntax);

}  // namespace logos
