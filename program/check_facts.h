#pragma once

#include <cstdint>

#include "program/facts.h"

namespace logos {

/// A run holds at most this many rows: what a text's lists may hold.
inline constexpr std::int64_t kMostRunRows = std::int64_t{1} << 20;

/// The inputs that a cut's program takes of a run.
bool takes_tokens(const Cut& cut);
bool takes_positions(const Cut& cut);

/// Throws Error where the facts contradict each other: a layer past the last, more chips than query
/// heads, a position of 0, a token above the vocabulary, another count of tokens than rows, ….
void check_facts(const Facts& facts);

}  // namespace logos
