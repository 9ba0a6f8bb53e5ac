#pragma once

#include <string>
#include <vector>

namespace logos::bench {

/// Rows of cells as columns, each as wide as its widest cell, two spaces between; numbers stand to
/// the right. Widths count characters.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// Rows as CSV (RFC 4180), quoted where they must be.
std::string csv_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace logos::bench
