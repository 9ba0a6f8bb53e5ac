#include "program/model_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "program/error.h"

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
constexpr double kLeastEpsilon = 0x1p-40;
constexpr double kMostEpsilon = 0x1p40;
// Angles stay below 2^31 radians (a table at 256 bits is then exact to one rounding), whole
// numbers stay exact.
constexpr double kMostRotary = 0x1p53;

void check_range(std::string_view where, std::string_view name, std::int64_t value,
                 std::int64_t most) {
  if (value >= 1 && value <= most) return;
  throw Error(where, fmt::format("{} out of bounds", name), fmt::format("{}", value),
              fmt::format("1 to {}", most));
}

void check_number(std::string_view where, std::string_view name, double value, double least,
                  double most) {
  if (value >= least && value <= most) return;  // false for NaN
  throw Error(where, fmt::format("{} out of bounds", name), fmt::format("{}", value),
              fmt::format("{} to {}", least, most));
}

void check_rotary(const Rotary& rotary, std::string_view where) {
  check_number(where, "rotary base", rotary.base, 1, kMostRotary);
  if (rotary.kind == Rotary::Kind::kPlain) return;
  check_number(where, "rotary factor", rotary.factor, 1, kMostRotary);
  if (rotary.kind == Rotary::Kind::kLinear) return;
  check_number(where, "rotary low_freq_factor", rotary.low, 0x1p-40, kMostRotary);
  check_number(where, "rotary high_freq_factor", rotary.high, 0x1p-40, kMostRotary);
  if (!(rotary.low < rotary.high)) {
    throw Error(where, "rotary high_freq_factor not above low_freq_factor",
                fmt::format("{}", rotary.high), fmt::format("more than {}", rotary.low));
  }
  check_number(where, "rotary original_max_position_embeddings", rotary.original, 1, kMostRotary);
  if (rotary.original != std::floor(rotary.original)) {
    throw Error(where, "rotary original_max_position_embeddings is not whole",
                fmt::format("{}", rotary.original), "a whole number");
  }
}

}  // namespace

void validate(const ModelSpec& spec, std::string_view where) {
  const bool b = spec.profile == Profile::kB;
  const std::int64_t most_columns = b ? kMostColumnsB : kMostColumns;
  check_range(where, "layers", spec.layers, kMostLayers);
  check_range(where, "columns", spec.columns, most_columns);
  check_range(where, "query_heads", spec.query_heads, most_columns);
  check_range(where, "key_heads", spec.key_heads, spec.query_heads);
  check_range(where, "head_columns", spec.head_columns, kMostHeadColumns);
  check_range(where, "query_heads * head_columns", spec.query_heads * spec.head_columns,
              most_columns);
  check_range(where, "hidden_columns", spec.hidden_columns, most_columns);
  check_range(where, "vocabulary", spec.vocabulary, kMostVocabulary);
  if (spec.query_heads % spec.key_heads != 0) {
    throw Error(where, "query_heads is not a multiple of key_heads",
                fmt::format("{} query_heads", spec.query_heads),
                fmt::format("a multiple of {}", spec.key_heads));
  }
  if (spec.head_columns % 2 != 0) {
    throw Error(where, "head_columns cannot be rotated in pairs",
                fmt::format("{}", spec.head_columns), "an even number");
  }
  check_number(where, "norm_epsilon", spec.norm_epsilon, kLeastEpsilon, kMostEpsilon);
  check_rotary(spec.rotary, where);
  if (spec.window) check_range(where, "window", *spec.window, (std::int64_t{1} << 31) - 1);
}

}  // namespace logos
