#include "program/model_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "program/error.h"
#include "program/spec_fault.h"

namespace logos {
namespace {

// Bounds on which every lane relies. They keep all sums exact (arithmetic.md, section 8): a row of
// at most 65,536 columns leaves the byte-split sums within int32 (to 66,311) and the others within
// int64; profile B's scales are wider, so its rows are shorter. A head of at most 256 columns keeps
// a score within 39 bits.
constexpr std::int64_t kMostLayers = 4096;
constexpr std::int64_t kMostColumns = 65536;
constexpr std::int64_t kMostColumnsB = 32768;
constexpr std::int64_t kMostHeadColumns = 256;
constexpr std::int64_t kMostVocabulary = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kMostWindow = (std::int64_t{1} << 31) - 1;
constexpr double kLeastEpsilon = 0x1p-40;
constexpr double kMostEpsilon = 0x1p40;
// With a base and a factor from 1 up, an angle stays below 2^31 radians: a table made at 256 bits
// is then exact to its one rounding. Whole numbers to 2^53 are exact.
constexpr double kMostRotary = 0x1p53;
constexpr double kLeastRotaryBound = 0x1p-40;

using Fault = std::optional<SpecFault>;

Fault in_range(std::string key, std::string_view what, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return std::nullopt;
  return SpecFault{std::move(key), fmt::format("{} out of bounds", what), fmt::format("{}", value),
                   fmt::format("1 to {}", most)};
}

Fault in_range(std::string key, std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return std::nullopt;  // false for NaN
  return SpecFault{std::move(key), fmt::format("{} out of bounds", what), fmt::format("{}", value),
                   fmt::format("{} to {}", least, most)};
}

Fault sizes(const ModelSpec& spec) {
  const bool b = spec.profile == Profile::kB;
  const std::int64_t most = b ? kMostColumnsB : kMostColumns;
  if (Fault f = in_range("layers", "layers", spec.layers, kMostLayers)) return f;
  if (Fault f = in_range("columns", "columns", spec.columns, most)) return f;
  if (Fault f = in_range("query_heads", "query_heads", spec.query_heads, most)) return f;
  if (Fault f = in_range("key_heads", "key_heads", spec.key_heads, spec.query_heads)) return f;
  if (spec.query_heads % spec.key_heads != 0) {
    return SpecFault{
        "key_heads", "query_heads is not a multiple of key_heads",
        fmt::format("{} query heads over {} key heads", spec.query_heads, spec.key_heads),
        "as many query heads for every key head"};
  }
  if (Fault f = in_range("head_columns", "head_columns", spec.head_columns, kMostHeadColumns)) {
    return f;
  }
  if (spec.head_columns % 2 != 0) {
    return SpecFault{"head_columns", "head_columns cannot be rotated in pairs",
                     fmt::format("{}", spec.head_columns), "an even number"};
  }
  if (Fault f = in_range("head_columns", "query_heads * head_columns",
                         spec.query_heads * spec.head_columns, most)) {
    return f;
  }
  if (Fault f = in_range("hidden_columns", "hidden_columns", spec.hidden_columns, most)) return f;
  return in_range("vocabulary", "vocabulary", spec.vocabulary, kMostVocabulary);
}

Fault rotary_fault(const Rotary& rotary) {
  if (Fault f = in_range("rotary", "rotary base", rotary.base, 1, kMostRotary)) return f;
  if (rotary.kind == Rotary::Kind::kPlain) return std::nullopt;
  if (Fault f = in_range("rotary", "rotary factor", rotary.factor, 1, kMostRotary)) return f;
  if (rotary.kind == Rotary::Kind::kLinear) return std::nullopt;
  if (Fault f = in_range("rotary", "rotary low_freq_factor", rotary.low, kLeastRotaryBound,
                         kMostRotary)) {
    return f;
  }
  if (Fault f = in_range("rotary", "rotary high_freq_factor", rotary.high, kLeastRotaryBound,
                         kMostRotary)) {
    return f;
  }
  if (rotary.low >= rotary.high) {
    return SpecFault{"rotary", "rotary high_freq_factor is not above low_freq_factor",
                     fmt::format("{}", rotary.high), fmt::format("more than {}", rotary.low)};
  }
  if (Fault f = in_range("rotary", "rotary original_max_position_embeddings", rotary.original, 1,
                         kMostRotary)) {
    return f;
  }
  if (rotary.original != std::floor(rotary.original)) {
    return SpecFault{"rotary", "rotary original_max_position_embeddings is not whole",
                     fmt::format("{}", rotary.original), "a whole number"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SpecFault> find_fault(const ModelSpec& spec) {
  if (Fault f = sizes(spec)) return f;
  if (Fault f = in_range("norm_epsilon", "norm_epsilon", spec.norm_epsilon, kLeastEpsilon,
                         kMostEpsilon)) {
    return f;
  }
  if (Fault f = rotary_fault(spec.rotary)) return f;
  if (spec.window) return in_range("window", "window", *spec.window, kMostWindow);
  return std::nullopt;
}

void validate(const ModelSpec& spec, std::string_view where) {
  if (const auto fault = find_fault(spec)) throw Error(where, fault->what, fault->got, fault->want);
}

}  // namespace logos
