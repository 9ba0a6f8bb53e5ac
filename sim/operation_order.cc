#include "sim/operation_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "program/check.h"

namespace logos {
namespace {

// golden/README.md: the order within a program, with the parts that only some models have.
constexpr std::array<std::string_view, 34> kOrder = {"embedding",
                                                     "input_norm",
                                                     "input_norm.q16",
                                                     "q",
                                                     "q.bias",
                                                     "k",
                                                     "k.bias",
                                                     "v",
                                                     "v.bias",
                                                     "q.norm",
                                                     "k.norm",
                                                     "q.rope",
                                                     "k.rope",
                                                     "q.q16",
                                                     "k.q16",
                                                     "v.q16",
                                                     "scores",
                                                     "weights",
                                                     "weight_sum",
                                                     "attention",
                                                     "attention.q16",
                                                     "o",
                                                     "residual_1",
                                                     "post_norm",
                                                     "post_norm.q16",
                                                     "gate",
                                                     "up",
                                                     "silu_times",
                                                     "silu_times.q16",
                                                     "down",
                                                     "residual_2",
                                                     "final_norm",
                                                     "final_norm.q16",
                                                     "logits"};

template <typename Bits>
std::string hex(const std::byte* at) {
  Bits bits = 0;
  for (std::size_t i = sizeof bits; i > 0; --i) {  // the observation's bytes are little-endian
    bits = static_cast<Bits>((static_cast<std::uint64_t>(bits) << 8) |
                             std::to_integer<std::uint64_t>(at[i - 1]));
  }
  return fmt::format("{:0{}X}", bits, 2 * sizeof bits);
}

}  // namespace

OperationPlace place_of(std::string_view name, std::int64_t layer) {
  const auto found = std::find(kOrder.begin(), kOrder.end(), name);
  CHECK(found != kOrder.end());
  const bool after = layer == 0 && name != "embedding";
  return {after ? std::numeric_limits<std::int64_t>::max() : layer,
          static_cast<int>(found - kOrder.begin())};
}

std::string_view operation_at(int rank) { return kOrder.at(static_cast<std::size_t>(rank)); }

std::string hex_of(ElementType type, std::span<const std::byte> values, std::size_t index) {
  const std::size_t bytes = bytes_of(type);
  CHECK(index < values.size() / bytes);
  const std::byte* at = values.data() + index * bytes;
  switch (bytes) {
    case 2:
      return hex<std::uint16_t>(at);
    case 4:
      return hex<std::uint32_t>(at);
    default:
      return hex<std::uint64_t>(at);
  }
}

}  // namespace logos
