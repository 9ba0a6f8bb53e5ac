#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "float_pipe.h"

namespace logos {

/// Bit patterns at every border of binary32, of both signs.
inline std::vector<std::uint32_t> special_operands() {
  std::vector<std::uint32_t> magnitudes = {
      0x00000000, 0x00000001, 0x00000002, 0x00000003,  // zero, the smallest subnormals
      0x00000004, 0x000000FF, 0x00000100, 0x003FFFFF, 0x00400000, 0x00400001, 0x007FFFFE,
      0x007FFFFF,                                      // the largest subnormal
      0x00800000, 0x00800001, 0x00800002, 0x00FFFFFF,  // the smallest normals
      0x01000000, 0x01000001, 0x0C000000, 0x0C7FFFFF, 0x3EFFFFFF, 0x3F000000, 0x3F000001,
      0x3F7FFFFE, 0x3F7FFFFF,  // about 1/2 and 1
      0x3F800000, 0x3F800001, 0x3F800002, 0x3FC00000, 0x3FFFFFFF, 0x40000000, 0x40400000,
      0x4B000000, 0x4B7FFFFF, 0x4B800000, 0x4B800001, 0x5F000000,  // about 2^23 and 2^24
      0x5F7FFFFF, 0x5F800000, 0x7E7FFFFF, 0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F000001,
      0x7F7FFFFE, 0x7F7FFFFF,                                       // the largest number
      0x7F800000,                                                   // infinity
      0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF};  // NaNs
  for (std::uint32_t field = 1; field < 255; field += 11) magnitudes.push_back(field << 23);
  for (std::uint32_t bit = 0; bit < 23; bit += 3) magnitudes.push_back(std::uint32_t{1} << bit);
  std::vector<std::uint32_t> all;
  for (const std::uint32_t magnitude : magnitudes) {
    all.push_back(magnitude);
    all.push_back(magnitude | 0x80000000);
  }
  return all;
}

inline std::uint32_t with_field(std::uint32_t bits, int field) {
  const int inside = field < 0 ? 0 : field > 254 ? 254 : field;
  return (bits & 0x807FFFFF) | static_cast<std::uint32_t>(inside) << 23;
}

/// A significand of few ones or of few zeros, which makes ties and carries likely.
inline std::uint32_t sparse(Random& random) {
  const std::uint32_t bits = random.bits();
  const std::uint32_t kept = 0xFFFFFFFFu << random.below(24);
  switch (random.below(3)) {
    case 0:
      return (bits & 0xFF800000) | (bits & kept & 0x7FFFFF);
    case 1:
      return (bits & 0xFF800000) | ((bits | ~kept) & 0x7FFFFF);
    default:
      return (bits & 0xFF800000) | 1u << random.below(23) | 1u << random.below(23);
  }
}

/// A pair of operands of one of several kinds.
inline std::pair<std::uint32_t, std::uint32_t> random_pair(Random& random) {
  const std::uint32_t a = random.bits();
  const std::uint32_t b = random.bits();
  const auto field = static_cast<int>((a >> 23) & 0xFF);
  switch (random.below(11)) {
    case 0:
      return {a, b};
    case 1:
      return {a, with_field(b, field + random.between(-4, 4))};
    case 2:
      return {a, with_field(b, field + random.between(-30, 30))};
    case 3:
      return {a, (a ^ 0x80000000) + static_cast<std::uint32_t>(random.between(-9, 9))};
    case 4:
      return {a, with_field(b, 127 - field + random.between(-30, 3))};  // product at 2^-126
    case 5:
      return {a, with_field(b, 381 - field + random.between(-3, 3))};  // product at 2^128
    case 6:
      return {a, with_field(b, field + 126 + random.between(-3, 30))};  // quotient at 2^-126
    case 7:
      return {a, with_field(b, field - 128 + random.between(-3, 3))};  // quotient at 2^128
    case 8: {
      const std::uint32_t near = static_cast<std::uint32_t>(random.between(0, 255));
      const std::uint32_t x = with_field(sparse(random), static_cast<int>(near));
      return {x, with_field(sparse(random), random.below(2) != 0
                                                ? static_cast<int>(near) + random.between(-26, 26)
                                                : random.between(0, 254))};
    }
    case 9: {  // a product of few bits: a quotient that is exact or nearly so
      const float y = std::bit_cast<float>(with_field(sparse(random), random.between(64, 190)));
      const float q = std::bit_cast<float>(with_field(a, random.between(1, 190)));
      const auto x = std::bit_cast<std::uint32_t>(y * q);
      return {x + static_cast<std::uint32_t>(random.between(-1, 1)),
              std::bit_cast<std::uint32_t>(y)};
    }
    default: {  // one subnormal, or two
      const std::uint32_t x =
          (a & 0x80000000) | (a & (0x7FFFFFu >> (random.below(2) * random.below(23))));
      const std::uint32_t y = random.below(2) != 0 ? b : with_field(b, random.between(0, 30));
      return random.below(2) != 0 ? std::pair{x, y} : std::pair{y, x};
    }
  }
}

}  // namespace logos
