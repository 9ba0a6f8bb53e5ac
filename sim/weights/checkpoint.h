#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "program/safetensors_header.h"

namespace logos {

/// A safetensors checkpoint, memory-mapped. Values widen exactly to binary32.
class Checkpoint {
 public:
  explicit Checkpoint(const std::filesystem::path& dir);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;

  const CheckpointHeader& header() const;
  /// Row `row` (0 for a vector) of a tensor of one or two dimensions into `values`. Throws Error
  /// naming the tensor where it is absent, of another type than F32, F16, BF16, or its file shrank.
  void read_row(std::string_view tensor, std::int64_t row, std::span<float> values) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace logos
