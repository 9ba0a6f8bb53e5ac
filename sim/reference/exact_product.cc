#include "sim/reference/exact_product.h"

#include "sim/reference/instructions.h"

#define LOGOS_INLINE inline __attribute__((always_inline))

namespace logos::reference {
namespace {

constexpr std::int64_t kLanes = 8;

/// Eight sums a dot product, so that the compiler may keep them in vectors.
LOGOS_INLINE double dot(const double* w, const double* x, std::int64_t columns) {
  double sums[kLanes] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= columns; k += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += w[k + lane] * x[k + lane];
  }
  for (; k < columns; ++k) sums[0] += w[k] * x[k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

LOGOS_INLINE void products(std::span<const double> w, std::span<const double> x, std::int64_t rows,
                           std::int64_t columns, double* y, std::int64_t pitch) {
  const std::int64_t weight_rows = static_cast<std::int64_t>(w.size()) / columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t n = 0; n < weight_rows; ++n) {
      y[r * pitch + n] = dot(w.data() + n * columns, x.data() + r * columns, columns);
    }
  }
}

void plain_products(std::span<const double> w, std::span<const double> x, std::int64_t rows,
                    std::int64_t columns, double* y, std::int64_t pitch) {
  products(w, x, rows, columns, y, pitch);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void avx2_products(std::span<const double> w,
                                                   std::span<const double> x, std::int64_t rows,
                                                   std::int64_t columns, double* y,
                                                   std::int64_t pitch) {
  products(w, x, rows, columns, y, pitch);
}
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void avx512_products(
    std::span<const double> w, std::span<const double> x, std::int64_t rows, std::int64_t columns,
    double* y, std::int64_t pitch) {
  products(w, x, rows, columns, y, pitch);
}
#endif

}  // namespace

void exact_products(std::span<const double> w, std::span<const double> x, std::int64_t rows,
                    std::int64_t columns, double* y, std::int64_t pitch) {
#if defined(__x86_64__)
  switch (best_instructions()) {
    case Instructions::kAvx512:
    case Instructions::kAvx512Vnni:
      return avx512_products(w, x, rows, columns, y, pitch);
    case Instructions::kAvx2:
      return avx2_products(w, x, rows, columns, y, pitch);
    case Instructions::kPlain:
      break;
  }
#endif
  plain_products(w, x, rows, columns, y, pitch);
}

}  // namespace logos::reference
