#pragma once

#include <cstdint>

#include "sim/weights/pack.h"

namespace logos {

/// Weights made up by seed, directly in quantized form and admissible by arithmetic.md, section 3.
/// Each number depends on the seed, the tensor's name and its place alone (a counter through
/// splitmix64, public domain, Vigna 2015), and on integer and correctly rounded operations only:
/// the same bits on every machine. Values are such that a deep model stays tame: a row's weights
/// have a deviation of about 1/sqrt(columns), so a product of a normed vector has one of about 1;
/// gains lie within 1/8 of 1, biases within 1/8 of 0. One group in 256 is all zero (c = 0).
class SyntheticSource final : public RowSource {
 public:
  explicit SyntheticSource(std::uint64_t seed) : seed_(seed) {}

  float matrix_row(const PlannedTensor& tensor, std::int64_t row,
                   std::span<std::uint8_t> multipliers, std::span<std::int8_t> q) override;
  /// Profile B's q and c have the deviations of profile A's; one d in four is negative, and q =
  /// -128 stays what it is: what a GGUF file may hold.
  void half_row(const PlannedTensor& tensor, std::int64_t row, std::span<std::uint16_t> halves,
                std::span<std::int8_t> q) override;
  void vector(const PlannedTensor& tensor, std::span<float> values) override;

 private:
  std::uint64_t seed_;
};

}  // namespace logos
