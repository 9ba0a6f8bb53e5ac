#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/lanes.h"

namespace logos::bench {

/// Runs `history`, `compare`, `sweep` or `fits` where the first argument is one of them, and gives
/// its exit status; null where it is none. Throws Error as bench_main's other work does.
std::optional<int> run_subcommand(const std::vector<std::string>& arguments,
                                  const LaneTable& table);

/// Parses what follows a subcommand's name. True where the usage was asked for and printed instead.
/// Throws Error for what CLI11 refuses.
bool parse_subcommand(CLI::App& app, const std::vector<std::string>& arguments);

/// Writes a result to standard output and, where `out` is not empty, to that file.
void write_result(const std::string& text, const std::string& out);

}  // namespace logos::bench
