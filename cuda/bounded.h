#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "program/check.h"

namespace logos::cuda {

/// Sizes that a hostile plan or a vast cut states stop here, far above any memory: a few of them
/// can be added and compared.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

/// Product of sizes, at most kMostBytes.
inline std::int64_t bounded_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    CHECK(factor >= 0);
    if (__builtin_mul_overflow(product, factor, &product)) return kMostBytes;
    if (product > kMostBytes) return kMostBytes;
  }
  return product;
}

/// Sum of two sizes up to kMostBytes, at most kMostBytes.
inline std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  return std::min(a + b, kMostBytes);
}

}  // namespace logos::cuda
