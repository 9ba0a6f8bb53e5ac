#pragma once

#include <string>

#include "program/facts.h"

namespace logos {

/// Writes the LOGOS text of a cut, the only writer there is (language: program/language.md).
/// Throws Error where the facts contradict (a layer past the last, more chips than query heads,
/// a position of 0, a token above the vocabulary, another count of tokens than rows, …).
std::string author(const Facts& facts);

}  // namespace logos
