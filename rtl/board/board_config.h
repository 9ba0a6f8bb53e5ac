#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rtl/board/board.h"
#include "sim/lane.h"

namespace logos::d5005 {

/// KEY and VALUE of `--set board.KEY=VALUE`, without `board.`: a section's name, a dot and a key
/// (`ddr4.t_rcd`, `clocks.engine_mhz`, `host_link.read_latency_ns`).
using BoardSetting = std::pair<std::string, std::string>;

/// The board of a file (`configs/boards/d5005.json`): sections "ddr4", "clocks", "host_link", each
/// key with its source. Throws Error naming what is unknown, missing or out of range.
BoardParameters load_board(const std::filesystem::path& file,
                           std::span<const BoardSetting> settings);

/// What the lane d5005 is configured by: a board and the engine's rows.
struct D5005Config {
  BoardParameters board;
  std::int64_t rows = 8;
  std::int64_t mac_rows = 8;
};

/// The lane's configuration as canonical JSON, from a board's file with settings applied.
LaneConfig load_d5005_config(const std::filesystem::path& file,
                             std::span<const BoardSetting> settings, std::int64_t rows,
                             std::int64_t mac_rows);
/// Reads it back; throws Error naming the key.
D5005Config parse_d5005_config(std::string_view text);

}  // namespace logos::d5005
