#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace logos::bench {

/// What a piece of text is, and so its colour.
enum class Ink {
  kPlain,
  kBold,
  kDim,
  kGood,
  kBad,
  kWeights,
  kCache,
  kCompute,
  kMovement,
  kWaiting,
};

/// Text with or without ANSI colours.
class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string paint(Ink ink, std::string_view text) const;

 private:
  bool color_;
};

/// A cell of a table, in one ink or in several.
struct Cell {
  std::string text;
  Ink ink = Ink::kPlain;
  bool right = false;        ///< aligned
  std::string painted = {};  ///< in place of `text`, as wide, where parts have inks of their own
};

/// Rows of cells as columns, each as wide as its widest cell, two spaces between. Widths count
/// characters.
std::string text_table(const Painter& painter, const std::vector<std::vector<Cell>>& rows);

/// The same in plain ink; numbers stand to the right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// A line broken between words where it is wider than `columns`, each further line indented by two;
/// a percent sign keeps to its number. `columns` 0: left whole. Colours take no width.
std::string wrapped(std::string_view line, std::size_t columns);

/// Rows as CSV (RFC 4180), quoted where they must be.
std::string csv_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace logos::bench
