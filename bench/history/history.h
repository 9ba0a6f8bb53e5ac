#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/history/database.h"
#include "bench/history/owners.h"

namespace logos::bench {

/// A run as the history names it.
struct KeptRun {
  std::int64_t number = 0;
  std::string started;               ///< UTC, 2026-01-31T12:00:00Z
  std::optional<std::string> ended;  ///< null while it runs, and for ever where it was killed
  std::string command;
};

/// How far a point of a sweep is.
struct PointState {
  std::optional<std::int64_t> run;  ///< that finished it
  bool claimed = false;             ///< by a process that is still there
};

/// A file that keeps every result by program identity, weights digest, lane configuration and
/// commit: SQLite, with a write-ahead log (docs/history.md has the tables). A file has one History
/// a process at a time. All throw Error with the file and the cause.
class History {
 public:
  enum class Open {
    kMake,     ///< makes the file where there is none
    kExisting  ///< to read: refuses where there is none; the file or its folder may be read-only
  };
  /// Refuses, without touching it, what is no history or one of another schema; an empty file is a
  /// new history. An empty path: one in memory. `say` takes remarks, a line each.
  History(const std::filesystem::path& file, Open open, std::function<void(std::string_view)> say);

  /// Begins a run of this process with what its result says before anything has run. Returns its
  /// number.
  std::int64_t begin(std::string_view command, const nlohmann::ordered_json& result);
  /// Keeps the object of `--format json` as far as it has come. Before the end nothing has been
  /// compared, so `agrees` is null there.
  void keep(std::int64_t run, nlohmann::ordered_json result, bool ended);

  std::vector<KeptRun> runs() const;
  /// The object of `--format json` of a run, the same to the last character.
  nlohmann::ordered_json result(std::int64_t run) const;
  /// The run that a text names: its number, or `last`, `last-1`, ….
  std::int64_t run_named(std::string_view text) const;

  /// The sweep of a key, made where there is none, with points from 0 to `points` - 1.
  std::int64_t sweep(std::string_view key, std::string_view description, std::int64_t points);
  /// Takes a point that is neither finished nor another living process's: the first of those whose
  /// number is `rank` modulo `size`, else the first. Null where there is none.
  std::optional<std::int64_t> claim(std::int64_t sweep, std::int64_t rank, std::int64_t size);
  /// Ends a run and with it the point.
  void finish(std::int64_t sweep, std::int64_t point, std::int64_t run,
              const nlohmann::ordered_json& result);
  std::vector<PointState> points(std::int64_t sweep) const;

 private:
  void make_or_check() const;
  /// An object that a run left. Throws Error where the text is none or lacks a key.
  nlohmann::ordered_json parse_kept(const std::string& text, std::int64_t run,
                                    std::initializer_list<const char*> keys) const;
  std::int64_t own_number();
  void write(std::int64_t run, const nlohmann::ordered_json& result, bool ended);

  std::filesystem::path file_;
  std::string where_;
  Access access_;
  Owners owners_;  ///< closes the file after SQLite has: see there
  Database database_;
  std::optional<std::int64_t> own_;
  std::int64_t written_run_ = 0;
  std::vector<std::string> written_;  ///< rows of that run as they stand in the file
};

}  // namespace logos::bench
