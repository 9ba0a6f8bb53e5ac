#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace logos {

/// A file that becomes visible under its name whole or not at all: written beside it under a name
/// of its own, then renamed. Several processes may do so at once; the last one to finish stays.
/// What a killed process left is removed by the next one that writes the same file (a writer holds
/// a lock on its temporary file, which ends with it).
class TemporaryFile {
 public:
  /// Takes room for `bytes` where the file system can, so that a full disk is told at once; so is a
  /// directory in the file's place. Throws Error with path and cause, here and below.
  TemporaryFile(const std::filesystem::path& file, std::uint64_t bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error) const;
  void create();

  std::filesystem::path file_;
  std::filesystem::path temporary_;  ///< empty when there is nothing to remove
  int descriptor_ = -1;
};

}  // namespace logos
