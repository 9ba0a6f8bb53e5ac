#include "bench/text_table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace logos::bench {
namespace {

/// Characters: bytes that do not continue one (RFC 3629).
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += "  ";
      line += is_number(row[i]) ? padding + row[i] : row[i] + padding;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
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
