#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/options.h"

namespace logos::bench {

/// The files that one command reads and writes: no two of its options may name the same one, by
/// whatever path. Devices and pipes (/dev/null) may stand twice.
class CommandFiles {
 public:
  void read(std::string_view option, const std::filesystem::path& file);
  /// All that the options of a run name to be read: text, tokens, configurations, the model's
  /// files, the artifacts.
  void read_inputs(const Options& options);
  /// The file of --history, and those that SQLite makes beside it. Throws Error where an input has
  /// one of them.
  void keep_history(const std::filesystem::path& file);
  /// A folder whose files with that extension ("": all files) are an option's own.
  void keep_folder(std::string_view option, const std::filesystem::path& folder,
                   std::string_view extension);
  /// Throws Error where the file cannot be written or another option has it.
  void write(std::string_view option, const std::filesystem::path& file);

 private:
  struct Folder {
    std::string option;
    std::filesystem::path place;
    std::string extension;
  };
  void take(std::string_view option, std::filesystem::path place);

  std::vector<std::pair<std::string, std::filesystem::path>> files_;
  std::vector<Folder> folders_;
};

}  // namespace logos::bench
