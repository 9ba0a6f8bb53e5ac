#pragma once

#include <concepts>
#include <type_traits>

namespace logos {

/// How many pieces of `size` hold `count`: the quotient rounded up, in the wider of their types.
/// `count` from 0, `size` from 1; their sum must have room in that type.
template <std::integral Count, std::integral Size>
constexpr std::common_type_t<Count, Size> divide_up(Count count, Size size) {
  using Common = std::common_type_t<Count, Size>;
  const auto n = static_cast<Common>(count);
  const auto d = static_cast<Common>(size);
  return (n + d - 1) / d;
}

/// The smallest multiple of `multiple` that is `count` or more, under the same conditions.
template <std::integral Count, std::integral Multiple>
constexpr std::common_type_t<Count, Multiple> round_up(Count count, Multiple multiple) {
  return divide_up(count, multiple) * static_cast<std::common_type_t<Count, Multiple>>(multiple);
}

}  // namespace logos
