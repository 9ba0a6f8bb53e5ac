#include "bench/sweep/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "bench/option_values.h"
#include "program/error.h"

namespace logos::bench {
namespace {

constexpr std::size_t kMostPoints = 100000;

constexpr std::string_view kRange = "{A..B}, {A..B+STEP} or {A..B*FACTOR}";

/// The numbers of `A..B`, `A..B+S` or `A..B*F`.
std::vector<std::int64_t> range(std::string_view option, const std::string& text) {
  const auto refuse = [&](std::string_view what) {
    throw Error(option, what, fmt::format("\"{{{}}}\"", text), kRange);
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) refuse("no range");
  const std::size_t sign = text.find_first_of("+*", dots);
  const auto part = [&](std::size_t begin, std::size_t end) {
    return number<std::int64_t>(option, std::string_view(text).substr(begin, end - begin), 1);
  };
  const std::int64_t first = part(0, dots);
  const std::int64_t last = part(dots + 2, std::min(sign, text.size()));
  const bool multiplies = sign != std::string::npos && text[sign] == '*';
  const std::int64_t by = sign == std::string::npos ? 1 : part(sign + 1, text.size());
  if (multiplies && by < 2) refuse("a factor that does not grow");
  if (first > last) refuse("an empty range");
  std::vector<std::int64_t> numbers;
  for (std::int64_t at = first; at <= last; at = multiplies ? at * by : at + by) {
    if (numbers.size() == kMostPoints) refuse("too many numbers in a range");
    numbers.push_back(at);
    if (at > last / (multiplies ? by : 1)) break;  // the next would overflow
  }
  return numbers;
}

/// A number in a text, [begin, end).
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  double number = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The decimal numbers of a text, those that are part of a word (kv4) left out.
std::vector<Place> numbers_in(const std::string& text) {
  std::vector<Place> places;
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    // The x of `batch:8x64` parts two numbers.
    const bool after_x = at >= 2 && text[at - 1] == 'x' && is_digit(text[at - 2]);
    if (!is_digit(text[at]) || (at > 0 && is_letter(text[at - 1]) && !after_x)) continue;
    Place place{at, at, 0};
    const auto [end, code] =
        std::from_chars(text.data() + at, text.data() + text.size(), place.number);
    place.end = static_cast<std::size_t>(end - text.data());
    if (code == std::errc{}) places.push_back(place);
    at = place.end;
  }
  return places;
}

/// Patterns of a text with the number that each leaves out: of every number, and of all together
/// where there are several that are equal (the `8/8` of an engine).
std::vector<std::pair<std::string, double>> patterns_of(const std::string& text) {
  const std::vector<Place> places = numbers_in(text);
  std::vector<std::pair<std::string, double>> patterns;
  for (const Place& place : places) {
    std::string pattern = text;
    pattern.replace(place.begin, place.end - place.begin, "{}");
    patterns.emplace_back(std::move(pattern), place.number);
  }
  const bool equal = std::all_of(places.begin(), places.end(), [&](const Place& place) {
    return place.number == places.front().number;
  });
  if (places.size() > 1 && equal) {
    std::string pattern = text;
    for (std::size_t i = places.size(); i-- > 0;) {
      pattern.replace(places[i].begin, places[i].end - places[i].begin, "{}");
    }
    patterns.emplace_back(std::move(pattern), places.front().number);
  }
  return patterns;
}

}  // namespace

std::vector<std::string> expand(std::string_view option, const std::string& item) {
  const std::size_t begin = item.find('{');
  const std::size_t end = item.find('}');
  if (begin == std::string::npos && end == std::string::npos) return {item};
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw Error(option, "a brace without the other", fmt::format("\"{}\"", item), kRange);
  }
  std::vector<std::string> values;
  const std::vector<std::string> tails = expand(option, item.substr(end + 1));
  for (const std::int64_t number : range(option, item.substr(begin + 1, end - begin - 1))) {
    for (const std::string& tail : tails) {
      values.push_back(fmt::format("{}{}{}", item.substr(0, begin), number, tail));
    }
  }
  return values;
}

Axis axis_of(std::string name, std::string_view option, const std::vector<std::string>& lists) {
  Axis axis{std::move(name), {}};
  for (const std::string& item : items(option, lists)) {
    for (std::string& value : expand(option, item)) {
      if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end()) {
        throw Error(option, fmt::format("{} stands there twice", value));
      }
      axis.values.push_back(std::move(value));
    }
  }
  return axis;
}

std::vector<Series> series_of(const Axis& axis) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::pair<double, std::string>>> found;
  for (const std::string& value : axis.values) {
    for (auto& [pattern, number] : patterns_of(value)) {
      if (!found.contains(pattern)) order.push_back(pattern);
      found[pattern].emplace_back(number, value);
    }
  }
  std::vector<Series> all;
  for (const std::string& pattern : order) {
    auto& members = found[pattern];
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Series series{pattern, {}, {}};
    for (auto& [number, value] : members) {
      series.numbers.push_back(number);
      series.values.push_back(std::move(value));
    }
    all.push_back(std::move(series));
  }
  return all;
}

std::vector<std::vector<std::string>> product_of(const std::vector<Axis>& axes) {
  std::vector<std::vector<std::string>> points = {{}};
  for (const Axis& axis : axes) {
    if (points.size() * axis.values.size() > kMostPoints) {
      throw Error("sweep", "too many points",
                  fmt::format("{} and more", points.size() * axis.values.size()),
                  fmt::format("{} at most", kMostPoints));
    }
    std::vector<std::vector<std::string>> longer;
    for (const auto& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace logos::bench
