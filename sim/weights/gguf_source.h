#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/gguf_header.h"
#include "program/input_file.h"
#include "sim/weights/pack.h"

namespace logos {

/// A GGUF file open for packing; read with pread, as a safetensors checkpoint is.
class GgufCheckpoint {
 public:
  explicit GgufCheckpoint(const std::filesystem::path& file)
      : file_(file), header_(read_gguf_header(file_)) {}

  const InputFile& file() const { return file_; }
  const GgufHeader& header() const { return header_; }
  /// SHA-256 of the file's bytes.
  std::string content_sha256() const;

 private:
  InputFile file_;
  GgufHeader header_;
};

/// Checks a file's tensors against what the spec needs: every one there, Q8_0 for a matrix and F32
/// for a vector, with its shape, and none that the model does not have. Throws Error naming the
/// tensor as the file does.
void check_tensors(const GgufHeader& header, const std::vector<PlannedTensor>& plan);

/// Gives a GGUF file's rows as they are, in the order of weight_plan's tensors; refuses scales and
/// values that arithmetic.md, section 3, does not admit.
class GgufSource final : public RowSource {
 public:
  GgufSource(const GgufCheckpoint& checkpoint, std::int64_t head_columns)
      : checkpoint_(checkpoint), head_columns_(head_columns) {}

  void half_row(const PlannedTensor& tensor, std::int64_t row, std::span<std::uint16_t> halves,
                std::span<std::int8_t> q) override;
  void vector(const PlannedTensor& tensor, std::span<float> values) override;
  /// A store is kept under the digest of the bytes that were there at first.
  void finish() override { checkpoint_.file().check_unchanged(); }

 private:
  void open(const PlannedTensor& tensor);
  void read_block(std::int64_t row, std::int64_t rows);

  const GgufCheckpoint& checkpoint_;
  std::int64_t head_columns_;  ///< rows of a head of a query or key projection
  // The tensor whose rows are buffered, and the rows [first_, end_) of the file that are.
  std::string tensor_;
  std::string place_;
  const GgufTensor* info_ = nullptr;
  bool paired_ = false;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace logos
