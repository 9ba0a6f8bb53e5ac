#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/weights/store.h"

namespace logos::d5005 {

/// Random matrices of one shape, each with a bias, by index: tensor "0", "1", … and bias "0", ….
class RandomWeights : public WeightStore {
 public:
  RandomWeights(std::int64_t matrices, std::int64_t rows, std::int64_t columns,
                std::mt19937_64& random);

  MatrixView matrix(std::string_view tensor) const override;
  std::span<const float> vector(std::string_view tensor) const override;
  const std::string& sha256() const override { return sha256_; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  struct Stored {
    std::vector<std::int8_t> q;
    std::vector<std::uint8_t> multipliers;
    std::vector<float> scales;
    std::vector<float> bias;
  };
  const Stored& stored(std::string_view tensor) const;

  std::int64_t rows_, columns_;
  std::vector<Stored> matrices_;
  std::string sha256_;
  std::filesystem::path file_;
};

}  // namespace logos::d5005
