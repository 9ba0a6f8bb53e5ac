#include "tests/end_to_end/shown_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace logos {
namespace {

constexpr std::string_view kAnything = "…";

std::string trimmed(std::string_view line) {
  return std::string(line.substr(0, line.find_last_not_of(" \r") + 1));
}

bool line_matches(std::string_view shown, std::string_view got) {
  const std::size_t gap = shown.find(kAnything);
  if (gap == std::string_view::npos) return shown == got;
  if (!got.starts_with(shown.substr(0, gap))) return false;
  const std::string_view rest = shown.substr(gap + kAnything.size());
  for (std::size_t at = gap; at <= got.size(); ++at) {
    if (line_matches(rest, got.substr(at))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(trimmed(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

std::vector<ShownCommand> shown_commands(const std::string& markdown) {
  std::vector<ShownCommand> commands;
  bool inside = false;
  bool continued = false;
  int number = 0;
  for (const std::string& line : lines_of(markdown)) {
    ++number;
    if (line.starts_with("```")) {
      inside = line == "```console";
      continued = false;
    } else if (!inside) {
      continue;
    } else if (continued) {
      commands.back().command += "\n" + line;
    } else if (line.starts_with("$ ")) {
      commands.push_back({number, line.substr(2), {}});
    } else if (!commands.empty()) {
      commands.back().output.push_back(line);
      continue;
    }
    continued = inside && line.ends_with('\\');
  }
  return commands;
}

std::string difference(const std::vector<std::string>& shown, const std::vector<std::string>& got) {
  // reached[j]: the lines shown so far can be the first j that were printed.
  std::vector<bool> reached(got.size() + 1);
  reached[0] = true;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::vector<bool> next(got.size() + 1);
    for (std::size_t j = 0; j <= got.size(); ++j) {
      if (shown[i] == kAnything) {
        next[j] = reached[j] || (j > 0 && next[j - 1]);
      } else if (j > 0) {
        next[j] = reached[j - 1] && line_matches(shown[i], got[j - 1]);
      }
    }
    if (std::find(next.begin(), next.end(), true) == next.end()) {
      const auto last = static_cast<std::size_t>(
          std::find(reached.rbegin(), reached.rend(), true).base() - reached.begin() - 1);
      return fmt::format("shown: {}\n  got: {}", shown[i],
                         last < got.size() ? got[last] : "nothing more");
    }
    reached = std::move(next);
  }
  if (reached[got.size()]) return "";
  const auto last = static_cast<std::size_t>(
      std::find(reached.rbegin(), reached.rend(), true).base() - reached.begin() - 1);
  return fmt::format("not shown: {}", got[last]);
}

}  // namespace logos
