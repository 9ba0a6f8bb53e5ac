#include <algorithm>
#include <cstring>

#include "sim/reference/product_kernels.h"
#include "sim/weights/store.h"

namespace logos::reference {

void prepare_planes(const std::int16_t* a, std::int64_t columns, std::int64_t lead,
                    std::int64_t groups, std::byte* to) {
  auto* planes = reinterpret_cast<std::int16_t*>(to);
  std::fill_n(planes, groups * 2 * kGroup, std::int16_t{0});
  for (std::int64_t k = 0; k < columns;) {
    const std::int64_t column = k + lead;
    std::int16_t* group = planes + column / kGroup * 2 * kGroup;
    const std::int64_t end = std::min(columns, (column / kGroup + 1) * kGroup - lead);
    for (std::int64_t i = column % kGroup; k < end; ++k, ++i) {
      group[i] = static_cast<std::int16_t>(a[k] >> 8);
      group[i + kGroup] = static_cast<std::int16_t>(a[k] & 255);
    }
  }
}

void prepare_quads(const std::int16_t* a, std::int64_t columns, std::int64_t lead,
                   std::int64_t groups, std::byte* to) {
  auto* quads = reinterpret_cast<std::uint8_t*>(to);
  const auto put = [quads](std::int64_t column, std::int16_t value) {
    const auto shifted = static_cast<std::uint32_t>(value + 32768);
    std::uint8_t* quad = quads + column / 4 * 8 + column % 4;
    quad[0] = static_cast<std::uint8_t>(shifted >> 8);
    quad[4] = static_cast<std::uint8_t>(shifted & 255);
  };
  for (std::int64_t column = 0; column < lead; ++column) put(column, 0);
  for (std::int64_t k = 0; k < columns; ++k) put(lead + k, a[k]);
  for (std::int64_t column = lead + columns; column < groups * kGroup; ++column) put(column, 0);
}

}  // namespace logos::reference
