#include "bench/bringup/random_weights.h"

#include <bit>

#include "program/check.h"

namespace logos::d5005 {
namespace {

/// A row scale that leaves results of products near 1: the sums are of about 2^37.
float random_scale(std::mt19937_64& random) {
  const auto fraction = static_cast<std::uint32_t>(random() & 0x7FFFFF);
  const auto sign = static_cast<std::uint32_t>(random() & 1) << 31;
  return std::bit_cast<float>(sign | (127U - 20U) << 23 | fraction);
}

}  // namespace

RandomWeights::RandomWeights(std::int64_t matrices, std::int64_t rows, std::int64_t columns,
                             std::mt19937_64& random)
    : rows_(rows), columns_(columns) {
  const std::int64_t groups = (columns + kGroup - 1) / kGroup;
  for (std::int64_t m = 0; m < matrices; ++m) {
    Stored& stored = matrices_.emplace_back();
    stored.q.resize(static_cast<std::size_t>(rows * groups * kGroup));
    for (auto& q : stored.q) q = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    stored.multipliers.resize(static_cast<std::size_t>(rows * groups));
    for (auto& c : stored.multipliers) c = static_cast<std::uint8_t>(random());
    for (std::int64_t r = 0; r < rows; ++r) {
      stored.scales.push_back(random_scale(random));
      stored.bias.push_back(random_scale(random) * 1048576.0F);
    }
  }
}

const RandomWeights::Stored& RandomWeights::stored(std::string_view tensor) const {
  const auto index = static_cast<std::size_t>(tensor.at(0) - '0');
  CHECK(tensor.size() == 1 && index < matrices_.size());
  return matrices_[index];
}

MatrixView RandomWeights::matrix(std::string_view tensor) const {
  const Stored& matrix = stored(tensor);
  const std::int64_t groups = (columns_ + kGroup - 1) / kGroup;
  return {rows_, columns_, groups * kGroup, groups, matrix.q, matrix.multipliers, matrix.scales};
}

std::span<const float> RandomWeights::vector(std::string_view tensor) const {
  return stored(tensor).bias;
}

}  // namespace logos::d5005
