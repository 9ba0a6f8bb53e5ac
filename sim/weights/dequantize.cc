#include "sim/weights/dequantize.h"

#include "program/check.h"

namespace logos {

void dequantize_row(const MatrixView& matrix, std::int64_t row, std::span<double> values) {
  CHECK(row >= 0 && row < matrix.rows && values.size() == static_cast<std::size_t>(matrix.columns));
  const auto at = static_cast<std::size_t>(row);
  const auto q = matrix.q.subspan(at * static_cast<std::size_t>(matrix.pitch));
  if (matrix.profile() == Profile::kB) {
    const auto d = matrix.halves.subspan(at * static_cast<std::size_t>(matrix.groups));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = int{q[i]} * double{kScaleB} * multiplier_of_half(d[i / kGroup]);
    }
    return;
  }
  const auto c = matrix.multipliers.subspan(at * static_cast<std::size_t>(matrix.groups));
  const auto scale = static_cast<double>(matrix.scales[at]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(int{q[i]} * int{c[i / kGroup]}) * scale;
  }
}

}  // namespace logos
