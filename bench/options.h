#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/cut.h"

namespace logos::bench {

/// `--engine-rows`: rows of a pass over the weights, and those of the MAC array.
struct EngineRows {
  std::int64_t rows = 8;
  std::int64_t mac_rows = 8;
};

/// `--wave` and its window.
struct Wave {
  std::filesystem::path file;
  std::uint64_t first_cycle = 0;
  std::uint64_t end_cycle = 10000;   ///< the first that is not in it
  std::optional<std::int64_t> line;  ///< of the program, instead of cycles
};

/// The model that is taken where none is named.
inline constexpr std::string_view kDefaultModel = "kjv";

enum class Format { kConsole, kJson, kCsv };

/// The command line, checked as far as that goes without a model or a lane.
struct Options {
  std::vector<Cut> cuts;
  std::string model;                            ///< as given; "" when left out
  std::optional<std::uint64_t> synthetic_seed;  ///< --weights synthetic:SEED
  std::vector<std::string> lanes;               ///< as given; empty when left out
  std::optional<std::int64_t> chips;
  std::optional<std::int64_t> context;
  std::optional<std::string> tokens;  ///< `ID,ID…` or `@FILE`
  std::optional<std::string> prompt;
  std::optional<std::int64_t> position;  ///< from 1
  std::optional<std::int64_t> generate;
  std::optional<std::filesystem::path> text;

  bool score = false;
  std::optional<std::int64_t> chunk;
  std::optional<std::int64_t> batch;

  Format format = Format::kConsole;
  std::optional<std::filesystem::path> out;
  std::optional<std::filesystem::path> dump;
  std::optional<std::filesystem::path> trace;
  std::optional<std::filesystem::path> report;
  std::optional<std::filesystem::path> history;
  std::optional<std::filesystem::path> artifacts;

  std::optional<std::filesystem::path> gpu;
  std::vector<std::pair<std::string, std::string>> gpu_settings;  ///< --set gpu.KEY=V
  std::optional<std::filesystem::path> board;
  std::vector<std::pair<std::string, std::string>> board_settings;  ///< --set board.SECTION.KEY=V
  std::optional<std::filesystem::path> chip;
  std::vector<std::pair<std::string, std::string>> chip_settings;  ///< --set chip.KEY=V
  std::optional<EngineRows> engine_rows;
  std::vector<std::string> faults;  ///< `UNIT:KIND@CYCLE`
  std::optional<Wave> wave;

  bool exact = false;
  std::optional<std::uint64_t> stalls;
  std::optional<std::uint32_t> fill;
  std::optional<std::uint64_t> cycle_limit;
  int threads = 1;

  /// Remarks that were made: each is made once where commands share this. Null: each time.
  std::shared_ptr<std::set<std::string>> said;

  bool list = false;
  bool map = false;  ///< also print where the tiles of a machine keep and do things

  /// Google Benchmark's own flags, passed through but for those that name where its output goes.
  std::vector<std::string> benchmark_flags;
  std::optional<std::filesystem::path> benchmark_out;
  std::string benchmark_out_format = "json";    ///< console, json or csv
  std::optional<std::string> benchmark_format;  ///< its own report instead of ours
  bool benchmark_list_tests = false;
};

/// The first option given that only a single run of cuts has use for ("--dump"), in the order of
/// `bench --help`; "" for none.
std::string_view option_of_one_run(const Options& options);

/// A remark on standard error, unless it was made before.
void say_once(const Options& options, const std::string& remark);

/// What the command line asks to print instead of running (--help, --version).
struct Usage {
  std::string text;
};

/// Options, or a text to print. Throws Error for everything that is wrong with the command line,
/// also for options of what is not built, naming what is missing.
struct Parsed {
  std::optional<Options> options;
  std::optional<Usage> usage;
};
Parsed parse_options(const std::vector<std::string>& arguments);

}  // namespace logos::bench
