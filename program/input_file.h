#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace logos {

/// A regular file open for reading at offsets (pread). Nothing is mapped: a file that another
/// process truncates meanwhile gives an Error at the next read, never a signal.
class InputFile {
 public:
  /// Throws Error with path and cause where the file cannot be opened or is not a regular file.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened
  std::uint64_t size_now() const;               ///< bytes, at this moment

  /// Throws Error where the file's size or time of writing is another than when it was opened.
  void check_unchanged() const;

  /// Fills `bytes` from `offset`. Throws Error with both sizes where the file ends before.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t written_ns_ = 0;  ///< time of the last writing
};

}  // namespace logos
