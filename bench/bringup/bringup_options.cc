#include "bench/bringup/bringup_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string_view>

#include "bench/option_values.h"
#include "program/error.h"
#include "program/whole_number.h"
#include "rtl/board/board.h"
#include "rtl/board/fault.h"

namespace logos::bench {
namespace {

/// Numbers as texts, so that errors name the option in the form of all others.
struct Raw {
  std::string board, library, fill, stalls, seed, steps, json, junit, export_to, replay_from;
  std::vector<std::string> settings;
};

/// The board takes it plus 1, for 0 is none there.
constexpr std::uint64_t kMostSeed = std::numeric_limits<std::uint64_t>::max() - 1;

std::uint64_t number_within(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  std::uint64_t value = 0;
  if (read_whole_number(text, value) != std::errc{} || value < least || value > most) {
    throw Error(option, "not a whole number in range", fmt::format("\"{}\"", text),
                fmt::format("{} to {}", least, most));
  }
  return value;
}

std::pair<std::string, std::string> parse_setting(const std::string& text) {
  constexpr std::string_view kOwner = "board.";
  const std::size_t equals = text.find('=');
  if (!text.starts_with(kOwner) || equals == std::string::npos || equals <= kOwner.size()) {
    throw Error("--set", "no setting", fmt::format("\"{}\"", text), "board.SECTION.KEY=VALUE");
  }
  return {text.substr(kOwner.size(), equals - kOwner.size()), text.substr(equals + 1)};
}

void declare(CLI::App& app, Raw& raw, BringupOptions& options) {
  app.add_option("--board", raw.board, "sim (the engine under Verilator, the default) or opae");
  app.add_option("--opae-library", raw.library, "path of libopae-c.so.2");
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* what) {
    app.add_option(name, into, what)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  many("--fault", options.faults, "UNIT:KIND@CYCLE: plant a fault in the simulated board (--list)");
  many("--set", raw.settings, "board.SECTION.KEY=VALUE over configs/boards/d5005.json");
  app.add_option("--fill", raw.fill, "0xNN or 0xNNNNNNNN: what unused memory holds");
  app.add_option("--stalls", raw.stalls, "SEED of random back-pressure on all rungs");
  app.add_option("--seed", raw.seed, "of patterns, random programs and the soak's order (1)");
  app.add_option("--steps", raw.steps, "of the soak (24)");
  app.add_option("--json", raw.json, "FILE for the results as JSON");
  app.add_option("--junit", raw.junit, "FILE for the results as JUnit XML");
  app.add_option("--export", raw.export_to, "DIR for the known answers, with their identity");
  app.add_option("--replay", raw.replay_from, "DIR of exported known answers to check against");
  app.add_flag("--list", options.list, "units and kinds of faults");
}

void take(const CLI::App& app, const Raw& raw, BringupOptions& options) {
  const auto given = [&](const char* name) {
    if (app.get_option(name)->count() == 0) return false;
    if (app.get_option(name)->results().front().empty()) throw Error(name, "an empty value");
    return true;
  };
  if (given("--opae-library")) options.library = raw.library;
  if (given("--board")) {
    if (raw.board != "sim" && raw.board != "opae") {
      throw Error("--board", "no such board", fmt::format("\"{}\"", raw.board), "sim or opae");
    }
    options.board = raw.board == "sim" ? BoardKind::kSim : BoardKind::kOpae;
  }
  if (given("--fill")) options.fill = parse_fill(raw.fill);
  if (given("--stalls")) options.stalls = number_within("--stalls", raw.stalls, 0, kMostSeed);
  if (given("--seed")) options.seed = number_within("--seed", raw.seed, 0);
  if (given("--steps")) {
    options.soak_steps = static_cast<int>(number_within("--steps", raw.steps, 1, 1'000'000));
  }
  if (given("--json")) options.json = raw.json;
  if (given("--junit")) options.junit = raw.junit;
  if (given("--export")) options.export_to = raw.export_to;
  if (given("--replay")) options.replay_from = raw.replay_from;
  for (const std::string& setting : raw.settings) {
    options.board_settings.push_back(parse_setting(setting));
  }
}

void check_combinations(const CLI::App& app, const BringupOptions& options) {
  d5005::BoardOptions unused;
  for (const std::string& fault : options.faults) d5005::plant_fault(fault, unused);
  if (options.export_to && options.replay_from) {
    throw Error("--export", "cannot be given together with --replay");
  }
  if (options.board == BoardKind::kOpae) {
    for (const char* name : {"--fault", "--fill", "--stalls"}) {
      if (app.get_option(name)->count() > 0) throw Error(name, "only with --board sim");
    }
  } else if (!options.library.empty()) {
    throw Error("--opae-library", "only with --board opae");
  }
}

}  // namespace

BringupParsed parse_bringup_options(const std::vector<std::string>& arguments) {
  BringupOptions options;
  Raw raw;
  CLI::App app("Brings up a D5005 decode engine of 8 rows (8/8), rung by rung.", "bringup");
  declare(app, raw, options);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help()};
  } catch (const CLI::ParseError& error) {
    throw Error("command line", error.what());
  }
  take(app, raw, options);
  check_combinations(app, options);
  return {options, ""};
}

}  // namespace logos::bench
