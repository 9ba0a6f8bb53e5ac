#include "bench/exact_error.h"

#include <algorithm>
#include <cmath>

#include "bench/generate.h"

namespace logos::bench {
namespace {

/// log of the sum of exponentials, the largest value taken out first.
template <typename T>
double log_sum(std::span<const T> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const T value : values) sum += std::exp(static_cast<double>(value) - largest);
  return largest + std::log(sum);
}

}  // namespace

ExactError error_of(std::span<const float> logits, std::span<const double> exact,
                    std::int64_t columns) {
  ExactError error;
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t rows = exact.size() / width;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto got = logits.subspan(row * width, width);
    const auto want = exact.subspan(row * width, width);
    const double got_sum = log_sum(got);
    const double want_sum = log_sum(want);
    double kl = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double difference = static_cast<double>(got[i]) - want[i];
      error.max_logit_error = std::max(error.max_logit_error, std::abs(difference));
      kl += std::exp(want[i] - want_sum) * ((want[i] - want_sum) - (got[i] - got_sum));
    }
    error.kl += kl / static_cast<double>(rows);
    const auto best = std::max_element(want.begin(), want.end()) - want.begin();
    if (first_largest(got) == best) error.top1 += 1.0 / static_cast<double>(rows);
  }
  return error;
}

}  // namespace logos::bench
