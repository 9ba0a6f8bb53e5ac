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
  /// Throws Error where the file cannot be written or another option has it.
  void write(std::string_view option, const std::filesystem::path& file);

 private:
  void take(std::string_view option, std::filesystem::path place);

  std::vector<std::pair<std::string, std::filesystem::path>> files_;
  std::filesystem::path artifacts_;  ///< their folder; "" for none
};

}  // namespace logos::bench
