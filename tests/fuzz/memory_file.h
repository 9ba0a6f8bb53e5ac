#pragma once

#include <filesystem>
#include <string_view>

namespace logos {

/// A file in memory with a path of its own, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const;

 private:
  int fd_;
};

}  // namespace logos
