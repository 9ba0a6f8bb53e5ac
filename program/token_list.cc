#include "program/token_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "program/error.h"
#include "program/text/source.h"
#include "program/text_file.h"
#include "program/whole_number.h"

namespace logos {
namespace {

// A line of tokens for every sequence of a long score: far above what a run can use.
constexpr std::uint64_t kMostListBytes = std::uint64_t{256} << 20;
constexpr std::string_view kWhite = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

std::int64_t read_id(std::string_view item, std::int64_t vocabulary, std::string_view where,
                     std::size_t number) {
  const auto refuse_item = [&](std::string_view what) {
    throw Error(fmt::format("{}: item {}", where, number), what, quote(item),
                fmt::format("a token id from 0 to {}", vocabulary - 1));
  };
  if (item.empty()) refuse_item("an empty item");
  const bool negative = item.front() == '-';
  const std::string_view digits = item.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    refuse_item("not a token id");
  }
  if (has_leading_zero(item)) refuse_item("a token id with a leading zero");
  std::int64_t id = -1;
  if (read_whole_number(item, id) != std::errc{} || negative || id >= vocabulary) {
    refuse_item("a token that is not of the vocabulary");
  }
  return id;
}

std::vector<std::int64_t> read_commas(std::string_view list, std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    ids.push_back(read_id(trimmed(list.substr(0, comma)), vocabulary, "--tokens", ids.size() + 1));
    if (comma == list.size()) return ids;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::int64_t> read_line(std::string_view line, std::int64_t vocabulary,
                                    std::string_view where) {
  std::vector<std::int64_t> ids;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::size_t end = std::min(line.find_first_of(kWhite), line.size());
    ids.push_back(read_id(line.substr(0, end), vocabulary, where, ids.size() + 1));
    line.remove_prefix(end);
  }
  return ids;
}

/// Each line is a sequence.
std::string place_in_file(std::string_view name, std::size_t index) {
  return fmt::format("{}:{}", name, index + 1);
}

std::vector<std::vector<std::int64_t>> read_file(std::string_view name, std::int64_t vocabulary) {
  if (name.empty()) throw Error("--tokens", "no file is named after the @", "\"@\"", "@FILE");
  const std::string text = read_text_file(std::filesystem::path(name), kMostListBytes);
  const std::size_t last = text.find_last_not_of(" \t\r\v\f\n");
  if (last == std::string::npos) throw Error(name, "no tokens", "an empty file", "token ids");
  std::string_view rest = std::string_view(text).substr(0, last + 1);
  std::vector<std::vector<std::int64_t>> sequences;
  for (;;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string where = place_in_file(name, sequences.size());
    sequences.push_back(read_line(rest.substr(0, end), vocabulary, where));
    if (sequences.back().empty()) throw Error(where, "no tokens", "an empty line", "token ids");
    if (end == rest.size()) return sequences;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::vector<std::int64_t>> read_token_lists(std::string_view argument,
                                                        std::int64_t vocabulary) {
  if (argument.starts_with('@')) return read_file(argument.substr(1), vocabulary);
  return {read_commas(argument, vocabulary)};
}

std::string place_of_sequence(std::string_view argument, std::size_t index) {
  return argument.starts_with('@') ? place_in_file(argument.substr(1), index) : "--tokens";
}

}  // namespace logos
