#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/history/history.h"
#include "bench/outcome.h"

namespace logos::bench {

/// What --history asks of one run: its place in the file, written after each lane and at the end,
/// so that a run that is killed loses nothing that was finished. Without a file it does nothing.
class RunRecord {
 public:
  /// Throws Error where the file cannot be a history's.
  explicit RunRecord(const std::optional<std::filesystem::path>& file);

  /// Enters the run. Throws Error where the file cannot be written: before any work.
  void begin(const std::string& command, const Report& report);
  /// Keeps what there is so far; a fault is said once.
  void keep(const Report& report);
  /// Keeps the whole result. Throws Error where the file cannot be written.
  void end(const Report& report);

 private:
  std::optional<History> history_;
  std::optional<std::int64_t> run_;
  bool failed_ = false;
};

}  // namespace logos::bench
