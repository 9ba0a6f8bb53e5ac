#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace logos::bench {

/// The files that one command reads and writes: no two of its options may name the same one, by
/// whatever path. Devices and pipes (/dev/null) may stand twice.
class CommandFiles {
 public:
  void read(std::string_view option, const std::filesystem::path& file);
  /// Throws Error where the file cannot be written or another option has it.
  void write(std::string_view option, const std::filesystem::path& file);

 private:
  std::vector<std::pair<std::string, std::filesystem::path>> files_;
};

}  // namespace logos::bench
