#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/model_spec.h"
#include "sim/weights/checkpoint.h"
#include "sim/weights/pack.h"

namespace logos {

/// Checks a checkpoint's header against what the spec needs: every tensor there, with its shape and
/// a readable type, and none that the spec does not know. Nothing is read but the header. Remarks
/// (an unused head) are appended to `remarks`.
void check_tensors(const CheckpointHeader& header, const std::vector<PlannedTensor>& plan,
                   const ModelSpec& spec, const std::filesystem::path& dir,
                   std::vector<std::string>& remarks);

/// Quantizes a checkpoint's rows; refuses values that arithmetic.md, section 3, does not admit.
class CheckpointSource final : public RowSource {
 public:
  explicit CheckpointSource(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  float matrix_row(const PlannedTensor& tensor, std::int64_t row,
                   std::span<std::uint8_t> multipliers, std::span<std::int8_t> q) override;
  void vector(const PlannedTensor& tensor, std::span<float> values) override;
  /// A store is kept under the digest of the bytes that were there at first: they must not have
  /// changed meanwhile.
  void finish() override { checkpoint_.check_unchanged(); }

 private:
  std::string place(const PlannedTensor& tensor) const;

  const Checkpoint& checkpoint_;
  std::string tensor_;      ///< whose rows are buffered
  std::string place_;       ///< of it, in messages
  std::int64_t first_ = 0;  ///< rows [first_, end_) are buffered
  std::int64_t end_ = 0;
  std::vector<float> buffer_;
};

}  // namespace logos
