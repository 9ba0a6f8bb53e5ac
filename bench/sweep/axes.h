#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace logos::bench {

/// Values of an axis that differ in one number: what a curve is drawn over.
struct Series {
  std::string pattern;  ///< `decode:{}`: {} stands for the number
  std::vector<std::string> values;
  std::vector<double> numbers;  ///< of the values, rising
};

/// What a sweep varies.
struct Axis {
  std::string name;  ///< "cut", "chips", "engine_rows", or the key of --vary ("chip.mesh_width")
  std::vector<std::string> values;
};

/// The values that an item stands for: `decode:{128..1024*2}` is decode:128, decode:256, …, up to
/// 1024 at most; `{A..B+S}` adds, `{A..B}` adds 1. Several braces: their product. Throws Error
/// naming `option` for a brace that is none.
std::vector<std::string> expand(std::string_view option, const std::string& item);

/// An axis from the lists with commas that an option was given. Throws Error for a value that
/// stands there twice.
Axis axis_of(std::string name, std::string_view option, const std::vector<std::string>& lists);

/// The series of an axis: of each number in its values those that differ in nothing else, two
/// values at least.
std::vector<Series> series_of(const Axis& axis);

/// The points of the product of axes: a value of each, the last axis varying fastest.
std::vector<std::vector<std::string>> product_of(const std::vector<Axis>& axes);

}  // namespace logos::bench
