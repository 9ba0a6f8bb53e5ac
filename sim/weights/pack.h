#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "sim/weights/plan.h"

namespace logos {

/// Where quantized weights come from, asked tensor by tensor and row by row, in order.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Row `row` of a matrix in profile A; returns D. A source gives the profiles that it has, and is
  /// asked for no other.
  virtual float matrix_row(const PlannedTensor& tensor, std::int64_t row,
                           std::span<std::uint8_t> multipliers, std::span<std::int8_t> q);
  /// The same in profile B: a binary16 d a group.
  virtual void half_row(const PlannedTensor& tensor, std::int64_t row,
                        std::span<std::uint16_t> halves, std::span<std::int8_t> q);
  virtual void vector(const PlannedTensor& tensor, std::span<float> values) = 0;
  /// After the last of them, before the store becomes visible: the place to refuse what was read.
  virtual void finish() {}
};

/// Writes a packed store (store_format.h) whole or not at all. In memory at a time: a block of
/// rows, and the multipliers and scales of one matrix.
void pack(const std::vector<PlannedTensor>& plan, RowSource& rows, std::string_view source,
          const std::filesystem::path& file, Profile profile = Profile::kA);

}  // namespace logos
