#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace logos {

/// Reads token ids as commands take them: `ID,ID,…`, one sequence, or `@FILE` with ids separated by
/// white space, one sequence a line. Ids are the tokenizer's own, from 0 up to `vocabulary` - 1.
/// Throws Error naming the place in the list (item, and line of a file) for an empty item or line,
/// a word, a number out of bounds, an empty list.
std::vector<std::vector<std::int64_t>> read_token_lists(std::string_view argument,
                                                        std::int64_t vocabulary);

/// Where the sequence `index` (from 0) of such an argument stands, for errors: `--tokens`, or
/// `FILE:LINE`.
std::string place_of_sequence(std::string_view argument, std::size_t index);

}  // namespace logos
