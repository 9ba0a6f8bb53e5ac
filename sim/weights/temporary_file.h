#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "sim/file_beside.h"

namespace logos {

/// A file that becomes visible under its name whole or not at all: written beside it under a name
/// of its own (FileBeside), then renamed. Several processes may do so at once; the last one to
/// finish stays.
class TemporaryFile {
 public:
  /// Takes room for `bytes` where the file system can, so that a full disk is told at once; so is a
  /// directory in the file's place. Throws Error with path and cause, here and below.
  TemporaryFile(const std::filesystem::path& file, std::uint64_t bytes);

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path file_;
  FileBeside beside_;
};

}  // namespace logos
