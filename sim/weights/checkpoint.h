#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "program/safetensors_header.h"

namespace logos {

/// A safetensors checkpoint. Values widen exactly to binary32. Its files are read with pread, not
/// mapped: a file that another process cuts short meanwhile then is an Error, where a mapping would
/// end the process with SIGBUS; and packing reads each byte once, so a mapping would gain nothing.
class Checkpoint {
 public:
  explicit Checkpoint(const std::filesystem::path& dir);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;

  const CheckpointHeader& header() const;
  /// Row `row` (0 for a vector) of a tensor of one or two dimensions into `values`. Throws Error
  /// naming the tensor where it is absent, of another type than F32, F16, BF16, or its file shrank.
  void read_row(std::string_view tensor, std::int64_t row, std::span<float> values) const;
  /// Rows `[first, first + count)` likewise, `values` being `[count, columns]`.
  void read_rows(std::string_view tensor, std::int64_t first, std::int64_t count,
                 std::span<float> values) const;

  /// SHA-256 over the SHA-256 of each file's content, files in the order of their names. Neither
  /// names nor times are part of it.
  std::string content_sha256() const;
  /// Throws Error where a file was written to since the checkpoint was opened.
  void check_unchanged() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace logos
