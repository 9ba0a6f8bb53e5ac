#include "sim/kv_cache.h"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "program/check.h"
#include "program/error.h"

namespace logos {
namespace {

constexpr std::int8_t kZeroBlock = -128;  // ZE (arithmetic.md, section 1)

/// positions * heads * columns * layers elements, or 0 where that passes what a machine can hold.
std::int64_t elements(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  std::int64_t product = 1;
  for (const std::int64_t factor : {a, b, c, d}) {
    if (__builtin_mul_overflow(product, factor, &product)) return 0;
  }
  return product <= std::numeric_limits<std::int64_t>::max() / 8 ? product : 0;
}

}  // namespace

KvCache::KvCache(std::int64_t positions, std::int64_t heads, std::int64_t head_columns,
                 std::int64_t first_layer, std::int64_t layers)
    : positions(positions), heads(heads), head_columns(head_columns), first_layer(first_layer) {
  CHECK(positions > 0 && heads > 0 && head_columns > 0 && first_layer > 0 && layers >= 0);
  const std::string size = fmt::format("{} positions of {} heads of {} in {} layers", positions,
                                       heads, head_columns, layers);
  if (layers > 0 && elements(positions, heads, head_columns, layers) == 0) {
    throw Error("cache", fmt::format("too large for any machine: {}", size));
  }
  const auto blocks = static_cast<std::size_t>(positions * heads);
  const std::size_t values = blocks * static_cast<std::size_t>(head_columns);
  try {
    this->layers.reserve(static_cast<std::size_t>(layers));
    for (std::int64_t i = 0; i < layers; ++i) {
      this->layers.push_back({std::vector<std::int16_t>(values), std::vector<std::int16_t>(values),
                              std::vector<std::int8_t>(blocks, kZeroBlock),
                              std::vector<std::int8_t>(blocks, kZeroBlock)});
    }
  } catch (const std::bad_alloc&) {
    throw Error("cache", fmt::format("no memory for {}", size));
  }
}

KvCache::Layer& KvCache::layer(std::int64_t n) {
  return const_cast<Layer&>(static_cast<const KvCache&>(*this).layer(n));
}

const KvCache::Layer& KvCache::layer(std::int64_t n) const {
  CHECK(n >= first_layer && n - first_layer < static_cast<std::int64_t>(layers.size()));
  return layers[static_cast<std::size_t>(n - first_layer)];
}

}  // namespace logos
