#pragma once

#include "program/facts.h"

namespace logos {

/// The inputs that a cut's program takes of a run.
bool takes_tokens(const Cut& cut);
bool takes_positions(const Cut& cut);

/// Throws Error where the facts contradict each other: a layer past the last, more chips than query
/// heads, a position of 0, a token above the vocabulary, another count of tokens than rows, ….
void check_facts(const Facts& facts);

}  // namespace logos
