#pragma once

#include <cstdint>
#include <span>

namespace logos::reference {

/// `y[r*pitch + n] = sum_k w[n][k] * x[r][k]` in binary64: `w` is some weight rows
/// `[w.size() / columns, columns]`, `x` is `[rows, columns]`. The order of a sum is the machine's
/// choice: nothing here defines bits.
void exact_products(std::span<const double> w, std::span<const double> x, std::int64_t rows,
                    std::int64_t columns, double* y, std::int64_t pitch);

}  // namespace logos::reference
