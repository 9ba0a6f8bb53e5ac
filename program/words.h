#pragma once

#include <optional>
#include <string_view>

#include "program/program.h"

namespace logos {

/// A word of the language that is called like a function.
struct WordEntry {
  std::string_view name;
  Word word;
  std::size_t least_arguments;
  std::size_t most_arguments;
};

std::optional<WordEntry> find_word(std::string_view name);

/// Whether a program may not give a name of its own to something else: words of the language and
/// facts of the model.
bool is_reserved(std::string_view name);

}  // namespace logos
