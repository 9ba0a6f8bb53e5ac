#include "rtl/board/board_config.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program/error.h"
#include "sim/ddr4/config.h"
#include "sim/sourced_section.h"

namespace logos::d5005 {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 3> kSections = {"ddr4", "clocks", "host_link"};
constexpr double kSlowestMhz = 10;
constexpr double kFastestMhz = 2000;
constexpr double kLongestNs = 1e6;
constexpr double kMemoryCycles = 4;  ///< of the DDR4 clock in one of a bank's: a beat of 64 bytes

BoardClocks read_clocks(const json& section, const std::string& where) {
  SourcedSection reader(section, where);
  BoardClocks clocks;
  clocks.engine_mhz = reader.number("engine_mhz", kSlowestMhz, kFastestMhz);
  clocks.bank_mhz = reader.number("bank_mhz", kSlowestMhz, kFastestMhz);
  clocks.host_mhz = reader.number("host_mhz", kSlowestMhz, kFastestMhz);
  reader.finish();
  return clocks;
}

HostLinkParameters read_host_link(const json& section, const std::string& where) {
  SourcedSection reader(section, where);
  HostLinkParameters link;
  link.gigabytes_per_second = reader.number("gigabytes_per_second", 0.01, 1000);
  link.header_bytes = static_cast<std::uint32_t>(reader.number("header_bytes", 0, 4096));
  link.read_latency_ns = reader.number("read_latency_ns", 0, kLongestNs);
  link.write_latency_ns = reader.number("write_latency_ns", 0, kLongestNs);
  link.jitter_ns = reader.number("jitter_ns", 0, kLongestNs);
  reader.finish();
  return link;
}

const json& section(const json& board, const std::string& where, const char* name) {
  const auto found = board.find(name);
  if (found == board.end()) throw Error(where, fmt::format("missing section \"{}\"", name));
  return *found;
}

BoardParameters read_board(const json& board, const std::string& where) {
  if (!board.is_object()) throw Error(where, "not an object", board.type_name(), "sections");
  for (const auto& [key, value] : board.items()) {
    if (std::find(kSections.begin(), kSections.end(), key) == kSections.end()) {
      throw Error(where, fmt::format("unknown section \"{}\"", key));
    }
  }
  const auto place = [&](const char* name) { return fmt::format("{}: {}", where, name); };
  BoardParameters parameters;
  parameters.ddr4 = ddr4::read_parameters(section(board, where, "ddr4"), place("ddr4"));
  if (parameters.ddr4.response_order != ddr4::ResponseOrder::kInOrder) {
    throw Error(place("ddr4") + ".response_order", "the engine takes answers in order alone",
                "as_completed", "in_order");
  }
  parameters.clocks = read_clocks(section(board, where, "clocks"), place("clocks"));
  const double memory_mhz = kMemoryCycles * parameters.clocks.bank_mhz;
  if (std::abs(parameters.ddr4.memory_clock_mhz / memory_mhz - 1) > 1e-9) {
    throw Error(place("ddr4") + ".memory_clock_mhz", "not four times clocks.bank_mhz",
                fmt::format("{}", parameters.ddr4.memory_clock_mhz), fmt::format("{}", memory_mhz));
  }
  parameters.host_link = read_host_link(section(board, where, "host_link"), place("host_link"));
  parameters.host_link.clock_mhz = parameters.clocks.host_mhz;
  if (parameters.clocks.engine_mhz < parameters.clocks.bank_mhz) {
    throw Error(place("clocks") + ".engine_mhz", "below the banks' clock",
                fmt::format("{}", parameters.clocks.engine_mhz),
                fmt::format("{} at least", parameters.clocks.bank_mhz));
  }
  return parameters;
}

/// The file's JSON with the settings applied.
json board_json(const std::filesystem::path& file, std::span<const BoardSetting> settings) {
  json board = parse_sourced_file(file);
  read_board(board, file.string());  // the file's own faults first
  std::string options;
  for (const auto& [key, value] : settings) {
    const std::string option = fmt::format("--set board.{}={}", key, value);
    const std::size_t dot = key.find('.');
    const std::string name = key.substr(0, dot);
    if (dot == std::string::npos || !board.contains(name)) {
      throw Error(option, "unknown key", key, "ddr4.KEY, clocks.KEY or host_link.KEY");
    }
    if (key == "ddr4.memory_clock_mhz") {
      throw Error(option, "follows clocks.bank_mhz: four of its cycles in one of the bank's");
    }
    set_value(board[name], key.substr(dot + 1), value, option);
    board[name][key.substr(dot + 1)]["source"] = "--set";
    if (key == "clocks.bank_mhz" && board["clocks"]["bank_mhz"]["value"].is_number()) {
      board["ddr4"]["memory_clock_mhz"]["value"] =
          kMemoryCycles * board["clocks"]["bank_mhz"]["value"].get<double>();
    }
    options += (options.empty() ? "" : " ") + option;
  }
  // Together: a slower engine may be possible only with slower banks.
  if (!settings.empty()) read_board(board, options);
  return board;
}

std::int64_t rows_of(const json& root, const char* key) {
  const auto found = root.find(key);
  if (found == root.end() || !found->is_number_unsigned() || *found < 1U || *found > 32U) {
    throw Error("d5005 configuration", fmt::format("key {}", key),
                found == root.end() ? "nothing" : found->dump(), "1 to 32");
  }
  return found->get<std::int64_t>();
}

}  // namespace

BoardParameters load_board(const std::filesystem::path& file,
                           std::span<const BoardSetting> settings) {
  return read_board(board_json(file, settings), file.string());
}

LaneConfig load_d5005_config(const std::filesystem::path& file,
                             std::span<const BoardSetting> settings, std::int64_t rows,
                             std::int64_t mac_rows) {
  const json root = {{"board", board_json(file, settings)}, {"rows", rows}, {"mac_rows", mac_rows}};
  return LaneConfig{root.dump()};
}

D5005Config parse_d5005_config(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object() || root.size() != 3 || !root.contains("board")) {
    throw Error("d5005 configuration", "not an object of board, rows and mac_rows");
  }
  D5005Config config;
  config.board = read_board(root["board"], "d5005 configuration");
  config.rows = rows_of(root, "rows");
  config.mac_rows = rows_of(root, "mac_rows");
  return config;
}

}  // namespace logos::d5005
