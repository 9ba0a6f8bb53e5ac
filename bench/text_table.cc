#include "bench/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace logos::bench {
namespace {

/// Characters: bytes that do not continue one (RFC 3629), but for those of a colour (ESC to m).
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool in_color = false;
  for (const char c : text) {
    if (c == '\x1b') in_color = true;
    if (!in_color && (c & 0xC0) != 0x80) ++width;
    if (c == 'm') in_color = false;
  }
  return width;
}

bool is_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

}  // namespace

std::string Painter::paint(Ink ink, std::string_view text) const {
  static constexpr std::array<std::string_view, 10> kCodes = {
      "", "1", "2", "32", "31;1", "34;1", "36;1", "32;1", "33;1", "35;1"};
  const std::string_view code = kCodes[static_cast<std::size_t>(ink)];
  if (!color_ || code.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string text_table(const Painter& painter, const std::vector<std::vector<Cell>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i].text), ' ');
      if (i > 0) line += "  ";
      const std::string cell =
          row[i].painted.empty() ? painter.paint(row[i].ink, row[i].text) : row[i].painted;
      line += row[i].right ? padding + cell : cell + padding;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<Cell>> cells;
  for (const auto& row : rows) {
    auto& last = cells.emplace_back();
    for (const std::string& text : row) last.push_back({text, Ink::kPlain, is_number(text)});
  }
  return text_table(Painter(false), cells);
}

std::string wrapped(std::string_view line, std::size_t columns) {
  if (columns == 0 || width_of(line) <= columns) return std::string(line);
  std::string text;
  std::size_t width = 0;
  while (!line.empty()) {
    std::size_t end = std::min(line.find(' '), line.size());
    if (line.substr(end).starts_with(" %")) end = std::min(line.find(' ', end + 1), line.size());
    const std::string_view word = line.substr(0, end);
    if (width > 0 && width + 1 + width_of(word) > columns) {
      text += "\n  ";
      width = 2;
    } else if (!text.empty()) {
      text += ' ';
      ++width;
    }
    text += word;
    width += width_of(word);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return text;
}

std::string csv_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      if (row[i].find_first_of(",\"\r\n") == std::string::npos) {
        text += row[i];
        continue;
      }
      text += '"';
      for (const char c : row[i]) text.append(c == '"' ? 2 : 1, c);
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace logos::bench
