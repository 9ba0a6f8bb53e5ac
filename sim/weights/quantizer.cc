#include "sim/weights/quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "program/check.h"
#include "program/divide_up.h"
#include "program/error.h"
#include "sim/weights/store.h"

namespace logos {
namespace {

constexpr double kLevels = 32385.0;                                      // 127 * 255
constexpr double kSlack = std::bit_cast<double>(0x3EB0C6F7A0B5ED8DULL);  // 1e-6
constexpr float kLeastScale = 0x1p-40F;
constexpr float kGreatestScale = 0x1p20F;
constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;
constexpr std::uint32_t kInfinity = 0x7F800000;

/// The largest magnitude of some binary32 values, as a bit pattern: patterns without sign are
/// ordered as the magnitudes are, with Inf and NaN above all numbers.
std::uint32_t greatest_magnitude(std::span<const float> values) {
  std::uint32_t greatest = 0;
  for (const float value : values) {
    greatest = std::max(greatest, std::bit_cast<std::uint32_t>(value) & kMagnitude);
  }
  return greatest;
}

/// The nearest integer, ties to even, of a magnitude below 2^51: adding 1.5 * 2^52 leaves no bits
/// for a fraction, so the addition itself rounds. (The same as nearbyint, without a call.)
double nearest_even(double value) {
  constexpr double kNoFraction = 0x1.8p52;
  return (value + kNoFraction) - kNoFraction;
}

[[noreturn]] void refuse_value(std::span<const float> row, std::string_view tensor) {
  const auto bad = std::find_if(row.begin(), row.end(), [](float v) { return !std::isfinite(v); });
  throw Error(tensor, fmt::format("column {} holds a value that is not finite", bad - row.begin()),
              fmt::format("{}", *bad), "a finite number");
}

}  // namespace

float quantize_row_into(std::span<const float> row, std::span<std::uint8_t> multipliers,
                        std::span<std::int8_t> q, std::string_view tensor) {
  const std::size_t group = static_cast<std::size_t>(kGroup);
  const std::size_t groups = divide_up(row.size(), group);
  CHECK(q.size() == row.size() && multipliers.size() == groups);
  const std::uint32_t greatest = greatest_magnitude(row);
  if (greatest >= kInfinity) refuse_value(row, tensor);
  const auto scale =
      static_cast<float>(static_cast<double>(std::bit_cast<float>(greatest)) / kLevels);
  if (scale > kGreatestScale) {
    throw Error(tensor, "the scale D of a row is too large", fmt::format("{}", scale),
                "at most 2^20");
  }
  if (scale < kLeastScale) {
    std::fill(multipliers.begin(), multipliers.end(), std::uint8_t{0});
    std::fill(q.begin(), q.end(), std::int8_t{0});
    return 0;
  }
  const auto d = static_cast<double>(scale);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = g * group;
    const std::span<const float> w = row.subspan(first, std::min(group, row.size() - first));
    const auto peak = static_cast<double>(std::bit_cast<float>(greatest_magnitude(w)));
    const double c = std::clamp(std::ceil(peak / (127.0 * d) - kSlack), 0.0, 255.0);
    multipliers[g] = static_cast<std::uint8_t>(c);
    std::int8_t* out = q.data() + first;
    if (c == 0) {
      std::fill(out, out + w.size(), std::int8_t{0});
      continue;
    }
    const double step = c * d;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double level = nearest_even(static_cast<double>(w[i]) / step);
      out[i] = static_cast<std::int8_t>(static_cast<int>(std::clamp(level, -127.0, 127.0)));
    }
  }
  return scale;
}

QuantizedRow quantize_row(std::span<const float> row, std::string_view tensor) {
  const auto group = static_cast<std::size_t>(kGroup);
  QuantizedRow result;
  result.multipliers.resize(divide_up(row.size(), group));
  result.q.resize(row.size());
  result.scale = quantize_row_into(row, result.multipliers, result.q, tensor);
  return result;
}

void admit_vector(std::span<float> values, std::string_view tensor) {
  constexpr float kGreatest = 0x1p40F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(values[i]) <= kGreatest)) {  // also NaN
      throw Error(tensor, fmt::format("element {} is not admitted", i),
                  fmt::format("{}", values[i]), "a number of at most 2^40 in magnitude");
    }
    if (std::fpclassify(values[i]) == FP_SUBNORMAL) values[i] = 0;
  }
}

}  // namespace logos
