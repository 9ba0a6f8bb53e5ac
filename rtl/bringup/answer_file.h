#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rtl/bringup/known_answer.h"

namespace logos::d5005 {

// Known answers as files: a folder with `answers.json`, which names size and source of the set and
// every file with its SHA-256, and one file an answer: a line of JSON that describes it, then all
// bytes of its pieces in order.

/// An answer's file; the same answer gives the same bytes.
std::string answer_bytes(const KnownAnswer& answer);
/// Throws Error (where = `where`) for anything that answer_bytes could not have written.
KnownAnswer parse_answer(std::string_view bytes, std::string_view where);

/// Writes the set into a folder, which is made where there is none; in place of an older set.
/// Throws Error where other files lie there, which read_answers would refuse.
void write_answers(const AnswerSet& set, const std::filesystem::path& folder);

/// Reads it back. Throws Error for a file that is missing, surplus, damaged or another than the one
/// that answers.json names.
AnswerSet read_answers(const std::filesystem::path& folder);

}  // namespace logos::d5005
