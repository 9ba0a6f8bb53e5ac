#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace logos {

/// The most positions that a row may attend to. The sums of attention (arithmetic.md, section 6)
/// are then exact in int64 in any order: 0 <= w_t <= 2^23 and |vv_t| <= 2^15, so all partial sums
/// of A lie in [-2^63, 2^63). (The quantizer's |vv_t| <= 32,767 alone would allow 33,555,456
/// positions; L, a sum of l_t <= 2^23, almost 2^40.)
inline constexpr std::int64_t kMostAttended = std::int64_t{1} << 25;

/// Throws Error where the row at `position` (from 1) would attend to more. `window`: positions that
/// it sees, itself included; null: all up to its own.
void check_attended(std::int64_t position, std::optional<std::int64_t> window,
                    std::string_view where);

}  // namespace logos
